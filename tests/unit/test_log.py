"""Log entries: one JSON object a line, and no way for content to get in."""

import io
import json
import logging
from collections.abc import Iterator
from enum import StrEnum

import pytest

from stemma import log

LOGGER = logging.getLogger("stemma.test")


class Reason(StrEnum):
    """A closed set, such as entries may carry."""

    OVERSIZE = "oversize"


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """Where entries of this test go; the logger is left as it was found."""
    logger = logging.getLogger(log.ROOT)
    before = (list(logger.handlers), logger.level, logger.propagate)
    out = io.StringIO()
    log.configure("info", out)
    yield out
    logger.handlers[:], logger.level, logger.propagate = before


def entries(stream: io.StringIO) -> list[dict[str, object]]:
    """What was logged, without the times."""
    return [
        {key: value for key, value in json.loads(line).items() if key != "time"}
        for line in stream.getvalue().splitlines()
    ]


def test_an_entry_is_one_line_of_json(stream: io.StringIO) -> None:
    """Level, logger, event and fields stand side by side."""
    log.emit(LOGGER, logging.INFO, "source skipped", source=7, reason=Reason.OVERSIZE, again=True)
    assert entries(stream) == [
        {
            "level": "info",
            "logger": "stemma.test",
            "event": "source skipped",
            "source": 7,
            "reason": "oversize",
            "again": True,
        }
    ]
    assert json.loads(stream.getvalue())["time"].endswith("+00:00")


def test_entries_below_the_level_are_not_written(stream: io.StringIO) -> None:
    """The level is the least severe entry that is logged."""
    log.emit(LOGGER, logging.DEBUG, "detail")
    assert not entries(stream)


def test_text_is_refused_as_a_field(stream: io.StringIO) -> None:
    """A field of text would be the way for content to leak."""
    with pytest.raises(TypeError, match="never text"):
        log.emit(LOGGER, logging.INFO, "prompt seen", prompt="secret")  # type: ignore[arg-type]
    assert not stream.getvalue()


def test_an_exception_is_logged_without_its_message(stream: io.StringIO) -> None:
    """A message may quote the line that could not be read."""
    try:
        int("secret")
    except ValueError as error:
        log.emit(LOGGER, logging.ERROR, "line unreadable", error=error)
    (entry,) = entries(stream)
    assert entry["error"] == "ValueError"
    assert "secret" not in stream.getvalue()


def test_arguments_are_not_put_into_the_text(stream: io.StringIO) -> None:
    """Also an entry made with the standard library's own call shows only the literal."""
    LOGGER.warning("could not read %s", "secret")
    assert [entry["event"] for entry in entries(stream)] == ["could not read %s"]


def test_configuring_again_does_not_double_entries(stream: io.StringIO) -> None:
    """One entry, one line, however often the application is started in one process."""
    log.configure("info", stream)
    log.emit(LOGGER, logging.INFO, "once")
    assert len(entries(stream)) == 1
