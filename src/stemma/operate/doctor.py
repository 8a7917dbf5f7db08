"""The record's own state, put together from the store, the adapters and the settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec

from stemma.collect import quarantine
from stemma.normalize.port import AgentAdapter
from stemma.settings import Settings
from stemma.store.answers.health import (
    DatabaseFile,
    Health,
    Installation,
    Parked,
    Setting,
    Signal,
)
from stemma.store.sqlite import read_health as stored
from stemma.store.sqlite.read import integrity, reading


def examine(settings: Settings, adapters: Iterable[AgentAdapter]) -> Health:
    """Look at everything that may be wrong.

    Args:
        settings: Settings in force; they name the database.
        adapters: Those whose capabilities are declared.

    Raises:
        StoreError: There is no database, or it cannot be opened for another reason than damage.
    """
    path = settings.database
    health = Health(
        database=DatabaseFile(
            path=str(path),
            bytes=_size(path),
            schema=None,
            sqlite=stored.sqlite_version(),
            integrity=integrity(path),
        ),
        installations=[],
        kinds=[],
        removed_sources=[],
        epochs=[],
        skips={},
        skipped_paths=[],
        line_faults={},
        faults=[],
        unknown_kinds=[],
        quarantine=[],
        duplicate_sessions=[],
        orphans=[],
        pending=[],
        signals=_signals(adapters),
        settings=_settings(settings),
    )
    if not health.database.integrity:
        _fill(health, path)
    return health


def _fill(health: Health, path: Path) -> None:
    with reading(path) as connection:
        health.database.schema = stored.schema(connection)
        health.installations = [
            Installation(
                host=one.host,
                product=one.product,
                root=one.root,
                present=Path(one.root).is_dir(),
                sources=one.sources,
                removed=one.removed,
                bytes=one.bytes,
            )
            for one in stored.installations(connection)
        ]
        health.kinds = stored.kinds(connection)
        health.removed_sources = stored.removed_sources(connection)
        health.epochs = stored.epochs(connection)
        health.skipped_paths = stored.skips(connection)
        health.skips = _counted(skip.reason for skip in health.skipped_paths)
        health.duplicate_sessions = [
            skip for skip in health.skipped_paths if stored.is_duplicate(skip)
        ]
        health.faults = stored.faults(connection)
        health.line_faults = _counted(fault.reason for fault in health.faults)
        health.unknown_kinds = stored.unknown_kinds(connection)
        health.quarantine = [_parked(one) for one in stored.quarantine(connection)]
        health.orphans = stored.orphans(connection)
        health.pending = stored.pending(connection)


def _counted(reasons: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(reasons).items()))


def _size(path: Path) -> int:
    files = (path, path.with_name(f"{path.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def _parked(one: stored.Failing) -> Parked:
    state = msgspec.msgpack.decode(one.state, type=quarantine.Failing)
    return Parked(
        root=one.root,
        path=one.path,
        failures=state.failures,
        parked=state.parked,
        reason=state.reason,
        will_retry=state.will_retry,
    )


def _signals(adapters: Iterable[AgentAdapter]) -> list[Signal]:
    return [
        Signal(
            adapter=adapter.agent,
            signal=one.signal,
            supported=bool(one.since),
            since=one.since or None,
            measured=one.measured,
            note=one.note or None,
        )
        for adapter in adapters
        for one in adapter.capabilities()
    ]


def _settings(settings: Settings) -> list[Setting]:
    return [
        Setting(key=key, value=_text(getattr(settings, key)), origin=str(origin))
        for key, origin in settings.origins.items()
    ]


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(str(part) for part in value) or "the agents' own places"
    return str(value)
