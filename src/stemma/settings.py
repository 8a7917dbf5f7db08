"""What a person can choose: defaults < file < environment < flags, each value with its origin.

The file is TOML: ``$STEMMA_CONFIG``, else ``config.toml`` in the platform's configuration folder.
Every key can be given in the environment as ``STEMMA_<KEY>``; lists are separated as in ``PATH``.
A key that is not known is an error in every layer: a silent typo would be a setting not set.
"""

import os
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, get_type_hints
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from stemma.errors import SettingsError

PREFIX = "STEMMA_"
FILE_VARIABLE = "STEMMA_CONFIG"
LOCAL = "local"
_NOT_SETTINGS = frozenset({FILE_VARIABLE, "STEMMA_SHARED"})  # the latter belongs to the test suite


class LogLevel(StrEnum):
    """How much is logged; the names are those of the standard library, in lower case."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Layer(StrEnum):
    """Where a value can come from, weakest first."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"
    FLAG = "flag"


class Origin(NamedTuple):
    """Where one value came from: the layer, and the file, variable or option that named it."""

    layer: Layer
    name: str = ""

    def __str__(self) -> str:
        return f"{self.layer} {self.name}".rstrip()


class Values(msgspec.Struct, frozen=True, kw_only=True):
    """The keys themselves.

    Attributes:
        database: The SQLite file.
        roots: Folders to read; empty means the agents' own default places.
        host: This machine's name in every row that may travel.
        timezone: IANA name of the zone in which days are counted; ``local`` is the machine's own.
        watchdog_minutes: Silence after which a live agent is shown as ``unknown``.
        log_level: The least severe entry that is logged.
    """

    database: Path
    roots: tuple[Path, ...]
    host: Annotated[str, msgspec.Meta(min_length=1)]
    timezone: str
    watchdog_minutes: Annotated[int, msgspec.Meta(ge=1, le=7 * 24 * 60)]
    log_level: LogLevel


class Settings(Values, frozen=True, kw_only=True):
    """All settings in force, and where each came from.

    Attributes:
        origins: For each key, the layer and name that decided it.
    """

    origins: Mapping[str, Origin]


class Machine(NamedTuple):
    """What the defaults depend on; passed in, so that tests do not see the machine they run on."""

    host: str
    state_folder: Path
    config_folder: Path


_TYPES: Mapping[str, Any] = MappingProxyType(get_type_hints(Values, include_extras=True))
_NO_FLAGS: Mapping[str, object] = MappingProxyType({})


class _Given(NamedTuple):
    """One value as it was given, before validation. Text may stand for numbers when not strict."""

    value: object
    origin: Origin
    strict: bool


def this_machine() -> Machine:
    """The machine Stemma runs on."""
    state, config = _folders()
    return Machine(os.uname().nodename or "localhost", state, config)


def _folders() -> tuple[Path, Path]:
    """The platform's folders for state and configuration."""
    system: str = sys.platform
    home = os.environ.get("HOME", "")
    if system == "linux" and home.startswith("/"):
        # As platformdirs has it, which the status line cannot wait for; tests/unit/test_settings.py compares the two.
        state, config = (
            given if (given := os.environ.get(name, "")).startswith("/") else f"{home}/{default}"
            for name, default in (
                ("XDG_STATE_HOME", ".local/state"),
                ("XDG_CONFIG_HOME", ".config"),
            )
        )
        return Path(state, "stemma"), Path(config, "stemma")
    import platformdirs  # noqa: PLC0415 - see above

    return platformdirs.user_state_path("stemma"), platformdirs.user_config_path("stemma")


def load(
    *, machine: Machine, environment: Mapping[str, str], flags: Mapping[str, object] = _NO_FLAGS
) -> Settings:
    """Read all layers and validate what they say.

    Args:
        machine: Where the defaults come from.
        environment: Usually ``os.environ``.
        flags: Options of the command line by key; ``None`` means not given.

    Raises:
        SettingsError: A key is unknown, a value does not fit, or the file cannot be read.
    """
    given = _defaults(machine)
    given |= _from_file(_file(machine, environment), required=FILE_VARIABLE in environment)
    given |= _from_environment(environment)
    given |= _from_flags(flags)
    return Settings(
        **{key: _validated(key, item) for key, item in given.items()},
        origins=MappingProxyType({key: item.origin for key, item in given.items()}),
    )


def _defaults(machine: Machine) -> dict[str, _Given]:
    values: dict[str, object] = {
        "database": machine.state_folder / "stemma.db",
        "roots": (),
        "host": machine.host,
        "timezone": LOCAL,
        "watchdog_minutes": 10,
        "log_level": LogLevel.WARNING,
    }
    return {key: _Given(v, Origin(Layer.DEFAULT), strict=True) for key, v in values.items()}


def _file(machine: Machine, environment: Mapping[str, str]) -> Path:
    named = environment.get(FILE_VARIABLE)
    return Path(named) if named else machine.config_folder / "config.toml"


def _from_file(path: Path, *, required: bool) -> dict[str, _Given]:
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        if required:
            raise SettingsError(f"{path}: no such file; {FILE_VARIABLE} names it") from None
        return {}
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from error
    import tomllib  # noqa: PLC0415 - only where there is a file: the status line is in a hurry

    try:
        content = tomllib.loads(text.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not valid TOML: {error}") from error
    origin = Origin(Layer.FILE, str(path))
    _known(content, origin)
    return {key: _Given(value, origin, strict=True) for key, value in content.items()}


def _from_environment(environment: Mapping[str, str]) -> dict[str, _Given]:
    given = {}
    for variable, text in sorted(environment.items()):
        if not variable.startswith(PREFIX) or variable in _NOT_SETTINGS:
            continue
        key = variable.removeprefix(PREFIX).lower()
        origin = Origin(Layer.ENVIRONMENT, variable)
        _known([key], origin)
        value = [part for part in text.split(os.pathsep) if part] if key == "roots" else text
        given[key] = _Given(value, origin, strict=False)
    return given


def _from_flags(flags: Mapping[str, object]) -> dict[str, _Given]:
    given = {key: value for key, value in flags.items() if value is not None}
    _known(given, Origin(Layer.FLAG))
    return {
        key: _Given(value, Origin(Layer.FLAG, f"--{key.replace('_', '-')}"), strict=False)
        for key, value in given.items()
    }


def _known(keys: Mapping[str, object] | list[str], origin: Origin) -> None:
    for key in keys:
        if key not in _TYPES:
            import difflib  # noqa: PLC0415 - only for a mistake

            near = difflib.get_close_matches(key, _TYPES, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are: {', '.join(_TYPES)}"
            raise SettingsError(f"{origin}: unknown setting {key!r}; {hint}")


def _validated(key: str, given: _Given) -> Any:  # noqa: ANN401 - the type is that of the key
    try:
        value = msgspec.convert(given.value, _TYPES[key], strict=given.strict, dec_hook=_decode)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{given.origin}: {key}: {error}") from error
    if key == "timezone" and value != LOCAL:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise SettingsError(
                f"{given.origin}: timezone: {value!r} is not an IANA zone such as Europe/Vienna"
            ) from error
    return value


def _decode(wanted: type, value: object) -> Path:
    if wanted is not Path:
        raise NotImplementedError(wanted)
    if isinstance(value, Path):
        return value
    if not isinstance(value, str) or not value:
        raise ValueError("Expected a path")
    return Path(value).expanduser()
