"""What is hot is looked at every tick, everything else in turn, and a tick has a bounded cost."""

from hypothesis import given
from hypothesis import strategies as st

from stemma.collect.schedule import Limits, Plan, Rotation, Schedule

LIMITS = Limits(
    hot_seconds=60,
    hot_least=2,
    hot_most=5,
    sources_per_tick=10,
    folders_per_tick=3,
    settle_seconds=2,
    relist_ticks=5,
    verify_ticks=4,
    verify_bytes_per_tick=100,
)
SOURCES = [f"-p/s{number:03}.jsonl" for number in range(100)]
FOLDERS = ["", "-p", *(f"-p/s{number:03}" for number in range(20))]


def made(sources: list[str] = SOURCES, folders: list[str] = FOLDERS) -> Schedule:
    """A schedule of quiet sources."""
    schedule = Schedule(LIMITS)
    schedule.watch_sources(sources)
    schedule.watch_folders(folders)
    return schedule


def plan(schedule: Schedule, now: float = 0.0, size: int = 1) -> Plan:
    """The next tick's plan, all sources being of one size."""
    return schedule.plan(now, lambda _: size)


def test_every_quiet_source_and_folder_has_its_turn() -> None:
    """Within as many ticks as the limits allow, however often hot ones come between."""
    schedule = made()
    schedule.source_changed(SOURCES[0], 0)
    plans = [plan(schedule) for _ in range(10)]
    assert {path for found in plans for path in found.sources} == set(SOURCES)
    assert {path for found in plans for path in found.folders} == set(FOLDERS)


def test_a_tick_costs_the_same_whatever_the_size_of_the_corpus() -> None:
    """Also when everything changes at once."""
    schedule = made([f"-p/{number}.jsonl" for number in range(5000)])
    for number in range(5000):
        schedule.source_changed(f"-p/{number}.jsonl", 0)
    found = plan(schedule)
    assert len(found.sources) <= LIMITS.hot_most + LIMITS.sources_per_tick
    assert len(found.folders) <= 2 + LIMITS.folders_per_tick


def test_a_changed_source_stays_hot_for_its_time() -> None:
    """And cools when others have changed since; the last few stay hot without limit."""
    schedule = made()
    for path in SOURCES[50:54]:
        schedule.source_changed(path, 0)
    assert all(set(SOURCES[50:54]) <= set(plan(schedule, now).sources) for now in range(60))
    hot = set.intersection(*(set(plan(schedule, 61 + tick).sources) for tick in range(9)))
    assert hot == set(SOURCES[52:54])


def test_folders_around_hot_sources_are_hot() -> None:
    """Its own, those above, and where its agents would be: there new files appear."""
    schedule = made(folders=[*FOLDERS, "-p/s007/subagents", "-q", "-q/s007"])
    schedule.source_changed("-p/s007.jsonl", 0)
    for _ in range(10):
        assert plan(schedule).folders[:4] == ("", "-p", "-p/s007", "-p/s007/subagents")


def test_a_changed_folder_is_listed_once_more_when_it_has_settled() -> None:
    """Stamps may be coarser than changes are fast."""
    schedule = made()
    schedule.folder_changed("-p/s003", 0)
    assert [("-p/s003" in plan(schedule, now).relist) for now in (0, 1, 2, 3, 4)] == [
        False, False, True, False, False,
    ]  # fmt: skip


def test_every_folder_is_listed_now_and_then_whatever_its_stamp_says() -> None:
    """Some file systems do not keep the times of folders."""
    schedule = made()
    relists = [path for _ in range(5 * len(FOLDERS)) for path in plan(schedule).relist]
    assert sorted(relists) == sorted(FOLDERS)


def test_full_verifications_are_rare_and_paid_for_by_size() -> None:
    """One small source every few ticks; after a large one the next waits longer."""
    schedule = made()
    ticks = [tick for tick in range(40) if plan(schedule, size=1).verify]
    assert ticks == list(range(3, 40, LIMITS.verify_ticks))
    schedule = made()
    ticks = [tick for tick in range(40) if plan(schedule, size=1000).verify]
    assert ticks == [3, 13, 23, 33]


def test_every_quiet_source_is_verified_and_no_hot_one() -> None:
    """A hot source has its turn when it is quiet again."""
    schedule = made()
    schedule.source_changed(SOURCES[1], 0)
    found = [plan(schedule).verify for _ in range(4 * len(SOURCES))]
    assert [path for path in found if path] == [SOURCES[0], *SOURCES[2:], SOURCES[0]]


def test_what_is_gone_is_not_looked_at() -> None:
    """Neither in turn nor as hot nor as settling."""
    schedule = made()
    schedule.source_changed(SOURCES[0], 0)
    schedule.folder_changed("-p/s000", 0)
    for path in SOURCES:
        schedule.drop_source(path)
    for path in FOLDERS:
        schedule.drop_folder(path)
    assert plan(schedule, 9) == Plan(("",), (), (), None)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("add"), st.integers(0, 9)),
            st.tuples(st.just("discard"), st.integers(0, 9)),
            st.tuples(st.just("take"), st.integers(0, 12)),
        )
    )
)
def test_rotation_gives_every_path_its_turn(steps: list[tuple[str, int]]) -> None:
    """After any history, one round gives every path exactly once, and never one that is gone."""
    rotation, paths = Rotation(), set[str]()
    for step, number in steps:
        if step == "add" and str(number) not in paths:
            paths.add(str(number))
            rotation.add([str(number)])
        elif step == "discard":
            paths.discard(str(number))
            rotation.discard(str(number))
        elif step == "take":
            taken = rotation.take(number)
            assert len(taken) == len(set(taken)) == min(number, len(paths))
            assert set(taken) <= paths
    one_by_one = [path for _ in paths for path in rotation.take(1)]
    assert sorted(one_by_one) == sorted(paths)
