"""Settings: which layer wins, where a value came from, and what is refused."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from stemma.errors import SettingsError
from stemma.settings import Layer, LogLevel, Machine, Origin, Settings, load


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine that is not this one."""
    return Machine(host="ada-laptop", state_folder=tmp_path / "state", config_folder=tmp_path)


def check(
    machine: Machine,
    *,
    file: str | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
) -> Settings:
    """Load with the given layers; the only place that touches the API."""
    if file is not None:
        (machine.config_folder / "config.toml").write_text(file, encoding="utf-8")
    return load(machine=machine, environment=environment or {}, flags=flags or {})


def refused(machine: Machine, expected: str, **layers: object) -> None:
    """Loading fails, and the message says ``expected``."""
    with pytest.raises(SettingsError) as caught:
        check(machine, **layers)  # type: ignore[arg-type]
    assert expected in str(caught.value)


def test_without_any_layer_the_defaults_hold(machine: Machine) -> None:
    """Nothing configured is a complete configuration."""
    settings = check(machine)
    assert settings == Settings(
        database=machine.state_folder / "stemma.db",
        roots=(),
        host="ada-laptop",
        timezone="local",
        watchdog_minutes=10,
        log_level=LogLevel.WARNING,
        origins=settings.origins,
    )
    assert set(settings.origins.values()) == {Origin(Layer.DEFAULT)}


def test_flags_beat_environment_beats_file(machine: Machine) -> None:
    """The layers override in the documented order, key by key."""
    settings = check(
        machine,
        file='watchdog_minutes = 1\nlog_level = "info"\nhost = "file"',
        environment={"STEMMA_WATCHDOG_MINUTES": "2", "STEMMA_LOG_LEVEL": "debug"},
        flags={"watchdog_minutes": 3, "log_level": None},
    )
    assert (settings.watchdog_minutes, settings.log_level, settings.host) == (3, "debug", "file")


def test_each_value_knows_where_it_came_from(machine: Machine) -> None:
    """An origin names the layer and the file, variable or option."""
    settings = check(
        machine,
        file='host = "file"',
        environment={"STEMMA_TIMEZONE": "Asia/Kathmandu"},
        flags={"watchdog_minutes": 3},
    )
    assert {key: str(origin) for key, origin in settings.origins.items()} == {
        "database": "default",
        "roots": "default",
        "host": f"file {machine.config_folder / 'config.toml'}",
        "timezone": "environment STEMMA_TIMEZONE",
        "watchdog_minutes": "flag --watchdog-minutes",
        "log_level": "default",
    }


def test_roots_are_a_list_in_the_file_and_a_path_list_in_the_environment(machine: Machine) -> None:
    """The environment separates as PATH does; `~` is the home folder everywhere."""
    assert check(machine, file='roots = ["/a", "~/b"]').roots == (Path("/a"), Path.home() / "b")
    assert check(machine, environment={"STEMMA_ROOTS": "/c:/d"}).roots == (Path("/c"), Path("/d"))


def test_the_configuration_file_can_be_named(machine: Machine, tmp_path: Path) -> None:
    """$STEMMA_CONFIG replaces the platform's file, and must exist."""
    named = tmp_path / "mine.toml"
    refused(machine, "no such file", environment={"STEMMA_CONFIG": str(named)})
    named.write_text('host = "mine"', encoding="utf-8")
    settings = check(machine, file='host = "other"', environment={"STEMMA_CONFIG": str(named)})
    assert settings.host == "mine"


@pytest.mark.parametrize(
    "layers",
    [
        {"file": "watchdog_minuets = 3"},
        {"environment": {"STEMMA_WATCHDOG_MINUETS": "3"}},
        {"flags": {"watchdog_minuets": 3}},
    ],
)
def test_an_unknown_key_is_refused_with_a_suggestion(
    machine: Machine, layers: dict[str, object]
) -> None:
    """A typo is never a setting silently not set, in whichever layer it stands."""
    refused(
        machine, "unknown setting 'watchdog_minuets'; did you mean 'watchdog_minutes'?", **layers
    )


def test_an_unknown_key_like_none_lists_what_is_known(machine: Machine) -> None:
    """Without a near name the message lists the keys."""
    refused(machine, "known are: database, roots, host", file="zzz = 1")


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ('watchdog_minutes = "10"', "watchdog_minutes: Expected `int`, got `str`"),
        ("watchdog_minutes = 0", "watchdog_minutes: Expected `int` >= 1"),
        ('log_level = "loud"', "log_level: Invalid enum value 'loud'"),
        ('timezone = "Mars/Olympus"', "'Mars/Olympus' is not an IANA zone"),
        ('timezone = "../etc/passwd"', "is not an IANA zone"),
        ("database = 7", "database: Expected a path"),
        ('database = ""', "database: Expected a path"),
        ('host = ""', "host: Expected `str` of length >= 1"),
        ("host = ", "not valid TOML"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(machine: Machine, file: str, expected: str) -> None:
    """The message names the file, the key and what was expected."""
    refused(machine, expected, file=file)
    refused(machine, str(machine.config_folder / "config.toml"), file=file)


def test_text_in_the_environment_may_stand_for_a_number_but_must_be_one(machine: Machine) -> None:
    """The environment knows only text; it is converted, not trusted."""
    assert check(machine, environment={"STEMMA_WATCHDOG_MINUTES": "5"}).watchdog_minutes == 5
    refused(machine, "STEMMA_WATCHDOG_MINUTES", environment={"STEMMA_WATCHDOG_MINUTES": "soon"})


def test_variables_without_the_prefix_are_not_ours(machine: Machine) -> None:
    """Only STEMMA_* is read."""
    assert check(machine, environment={"HOST": "x", "DATABASE": "y"}) == check(machine)
