"""``stemma statusline``, by a way of its own that loads neither typer nor rich: an agent runs it at every turn.

It never fails: whatever goes wrong, one short line is printed and the exit code is 0.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stemma.cli.money import UNPRICED, dollars

if TYPE_CHECKING:
    from datetime import tzinfo

    from stemma.derive.cost.price import Total
    from stemma.operate.statusline import Standing
    from stemma.store.limits import Limit

UNKNOWN_LINE = f"stemma {UNPRICED}"
_MOST_BYTES = 1 << 20
_SECOND = 1_000_000
_HELP = ("-h", "--help")


def run(arguments: list[str]) -> bool:
    """Print the status line.

    Args:
        arguments: What follows the command's name.

    Returns:
        Whether it did; not when help was asked for, which others print.
    """
    if any(one in _HELP for one in arguments):
        return False
    try:
        data = b"" if sys.stdin.isatty() else sys.stdin.buffer.read(_MOST_BYTES)
        told = line(data, _database(arguments))
    except Exception:  # noqa: BLE001 - an agent must never see a traceback where its status line should be
        told = UNKNOWN_LINE
    _print(told)
    return True


def line(data: bytes, database: Path | None = None) -> str:
    """The status line for the agent's input.

    Args:
        data: The input.
        database: The database; nothing for the one of the settings.

    Raises:
        StemmaError: A setting or a price is wrong.
    """
    # msgspec looks for typing_extensions, which takes as long to load as everything else here, and can do without.
    without = "typing_extensions" not in sys.modules and "msgspec" not in sys.modules
    if without:
        sys.modules["typing_extensions"] = None  # type: ignore[assignment] # that is how an import is made to fail
    import msgspec  # noqa: F401

    if without:
        del sys.modules["typing_extensions"]
    import time

    from stemma import settings
    from stemma.operate import statusline
    from stemma.operate.pricing import load_book

    chosen = settings.load(
        machine=settings.this_machine(), environment=os.environ, flags={"database": database}
    )
    now = time.time_ns() // 1000
    given = statusline.read_input(data)
    try:
        found = statusline.standing(
            given,
            chosen.database,
            load_book(chosen),
            zone=_zone(chosen.timezone),
            now=now,
        )
    except Exception:  # noqa: BLE001 - no database, or one that is not understood: the agent's own figures still stand
        limits = statusline.official_limits(given, chosen.database, now)
        found = statusline.Standing(None, None, None, True, limits, statusline.context_of(given))
    return told(found, now)


def told(found: Standing, now: int) -> str:
    """A standing in one line.

    Args:
        found: The standing.
        now: The present, microseconds since 1970.
    """
    parts = [
        f"whole session {_money(found.session, is_floor=found.is_floor)}",
        f"today {_money(found.today, is_floor=found.is_floor)}",
    ]
    limits = found.limits
    if limits is not None:
        parts += [f"5h {_limit(limits.five_hour, now)}"] if limits.five_hour else []
        parts += [f"7d {_limit(limits.seven_day, now)}"] if limits.seven_day else []
    if limits is None or limits.five_hour is None:
        parts.append(_block(found, now))
    parts.append(f"context {UNPRICED if found.context is None else f'{found.context:.0f}%'}")
    return " · ".join(parts)


def _block(found: Standing, now: int) -> str:
    if found.today is None:
        return f"block {UNPRICED}"
    if found.block is None:
        return f"block {UNPRICED}" if found.is_floor else "no block"
    cost = _money(found.block.cost, is_floor=found.is_floor)
    return f"block ~{cost} est., {_span(found.block.end - now)} left"


def _limit(limit: Limit, now: int) -> str:
    used = UNPRICED if limit.used_percentage is None else f"{limit.used_percentage:.0f}%"
    left = limit.resets_at * _SECOND - now
    return f"{used}, {_span(left)} left" if left > 0 else used


def _money(cost: Total | None, *, is_floor: bool) -> str:
    """A cost that is not known, or of which nothing is, is never zero."""
    if cost is None or cost.wholly_unpriced or (is_floor and not cost.total):
        return UNPRICED
    unpriced = cost.unpriced_tokens + cost.unpriced_searches > 0
    return f"{'≥ ' if is_floor else ''}{dollars(cost.micro_usd, unpriced=unpriced)}"


def _span(microseconds: int) -> str:
    minutes = microseconds // (60 * _SECOND)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"{days}d{hours:02}h" if days else f"{hours}h{minutes:02}m" if hours else f"{minutes}m"


def _zone(name: str) -> tzinfo | None:
    from stemma.settings import LOCAL

    if name == LOCAL:
        return None
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)


def _database(arguments: list[str]) -> Path | None:
    """The one option, ``--database FILE``; an argument that is not known is no reason to fail."""
    for place, one in enumerate(arguments):
        if one.startswith("--database="):
            return Path(one.removeprefix("--database="))
        if one == "--database" and place + 1 < len(arguments):
            return Path(arguments[place + 1])
    return None


def _print(text: str) -> None:
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except UnicodeEncodeError:
        sys.stdout.write(f"{text.encode('ascii', 'replace').decode()}\n")
        sys.stdout.flush()
    except OSError:  # nobody listens any more
        sys.stdout = None  # so that the interpreter does not flush it once more
