"""The user's own prices: ``prices.toml`` as the uppermost layer. Fields, units and examples: ``docs/reference/prices.md``.

Numbers are read as decimals, never as floats. A key that is not known is an error that names the likely one.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from types import UnionType
from typing import get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from stemma.derive.cost.book import PriceBook
from stemma.derive.cost.charge import BOUNDARIES
from stemma.derive.cost.identify import Identity, identify, is_claude
from stemma.derive.cost.layer import (
    ALL,
    DerivedRates,
    Layer,
    ModelEntry,
    Multiplier,
    Rates,
    factor_of,
)
from stemma.errors import SettingsError
from stemma.model.money import ANY_VARIANT, BILLED, STANDARD, pico_per_search, pico_per_token
from stemma.model.usage import BUCKETS

USER = "user"
"""Provider of models that nobody else bills, and the source of every row of the file."""


class _Rates(Struct, frozen=True, kw_only=True):
    input: Decimal | None = None
    output: Decimal | None = None
    cache_write_5m: Decimal | None = None
    cache_write_1h: Decimal | None = None
    cache_read: Decimal | None = None
    web_search_per_1000: Decimal | None = None


class _Period(_Rates, frozen=True, kw_only=True, rename={"since": "from"}):
    since: date | None = None
    until: date | None = None


class _Row(_Period, frozen=True, kw_only=True, rename={"since": "from"}):
    above: int = 0
    variant: str = STANDARD


class _Model(_Period, frozen=True, kw_only=True, rename={"since": "from"}):
    provider: str = ""
    aliases: tuple[str, ...] = ()
    free: bool = False
    fast: _Rates | None = None
    batch: _Rates | None = None
    multiplier: Decimal | None = None
    fast_multiplier: Decimal | None = None
    batch_multiplier: Decimal | None = None
    rows: tuple[_Row, ...] = ()


class _Multiplier(Struct, frozen=True, kw_only=True):
    factor: Decimal
    provider: str = ALL
    model: str = ALL


class _File(Struct, frozen=True, kw_only=True):
    models: dict[str, _Model] = {}
    aliases: dict[str, str] = {}
    geo: dict[str, Decimal] = {}
    multipliers: tuple[_Multiplier, ...] = ()


class UserPrices:
    """A parsed ``prices.toml``.

    Attributes:
        name: The file, as messages name it.
    """

    def __init__(self, text: str, base: PriceBook, name: str = "prices.toml") -> None:
        self.name = name
        self._layer = parse(text, base, name)

    def layer(self) -> Layer:
        """See ``PricingProvider.layer``."""
        return self._layer


def parse(text: str, base: PriceBook, name: str = "prices.toml") -> Layer:
    """The layer that a file states.

    Args:
        text: Content of the file.
        base: The prices below it, which say which model an id means.
        name: The file, for messages.

    Raises:
        SettingsError: With everything that is wrong, one line each.
    """
    try:
        content = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{name} is not TOML: {error}") from None
    problems = list(_unknown_keys(content, _File, ""))
    if problems:
        raise SettingsError("\n".join(f"{name}: {problem}" for problem in problems))
    try:
        file = msgspec.convert(content, _File)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{name}: {error}") from None
    return _Reader(base, name).layer(file)


class _Reader:
    """Turns a file into a layer, and collects what is wrong with it."""

    def __init__(self, base: PriceBook, name: str) -> None:
        self.base = base
        self.name = name
        self.problems: list[str] = []

    def layer(self, file: _File) -> Layer:
        """The file as a layer; raises ``SettingsError`` with every problem."""
        entries: list[ModelEntry] = []
        derived: list[DerivedRates] = []
        multipliers: list[Multiplier] = []
        for model_id, model in file.models.items():
            identity = self._identity(model_id, model)
            entries.append(self._entry(model_id, model, identity))
            derived.extend(self._derived(model_id, model, identity))
            if model.multiplier is not None:
                text = self._factor(f"models.{model_id}.multiplier", model.multiplier)
                multipliers.append(
                    Multiplier(provider=identity.provider, models=(identity.name,), factor=text, reason="multiplier")
                )  # fmt: skip
        for number, one in enumerate(file.multipliers):
            text = self._factor(f"multipliers[{number}].factor", one.factor)
            name = one.model if one.model == ALL else self._named(one.model)
            multipliers.append(
                Multiplier(provider=one.provider, models=(name,), factor=text, reason="multiplier")
            )
        for geo, factor in file.geo.items():
            text = self._factor(f"geo.{geo}", factor)
            multipliers.append(Multiplier(geos=(geo,), factor=text, reason="geography"))
        if self.problems:
            raise SettingsError("\n".join(f"{self.name}: {problem}" for problem in self.problems))
        aliases = {alias.strip().lower(): target for alias, target in file.aliases.items()}
        return Layer(
            source=self.name, models=tuple(entries), derived=tuple(derived), multipliers=tuple(multipliers),
            aliases=aliases,
        )  # fmt: skip

    def _entry(self, model_id: str, model: _Model, identity: Identity) -> ModelEntry:
        return ModelEntry(
            provider=identity.provider,
            name=identity.name,
            aliases=tuple(alias.strip().lower() for alias in (*model.aliases, model_id)),
            rates=tuple(self._rates(model_id, model)),
        )

    def _derived(self, model_id: str, model: _Model, identity: Identity) -> Iterable[DerivedRates]:
        for variant, factor in (("fast", model.fast_multiplier), ("batch", model.batch_multiplier)):
            if factor is not None:
                text = self._factor(f"models.{model_id}.{variant}_multiplier", factor)
                yield DerivedRates(
                    provider=identity.provider, models=(identity.name,), variant=variant, factor=text, replaces=True
                )  # fmt: skip

    def _identity(self, model_id: str, model: _Model) -> Identity:
        found = self.base.find(model_id) or identify(model_id)
        if found.variant:
            self.problems.append(
                f"models.{model_id}: state the fast price under `fast` of the model itself"
            )
        if model.provider and model.provider != found.provider:
            return Identity(model.provider, found.name)
        if self.base.find(model_id) is None and not is_claude(model_id):
            return Identity(USER, model_id.strip().lower())
        return found

    def _named(self, model_id: str) -> str:
        return (self.base.find(model_id) or identify(model_id)).name

    def _rates(self, model_id: str, model: _Model) -> Iterable[Rates]:
        where = f"models.{model_id}"
        always = self._period(where, model)
        if model.free:
            free = replace(always, variant=ANY_VARIANT, flat=True)
            yield free.stating(dict.fromkeys(BILLED, 0))
        whole = (
            ("", STANDARD, model),
            (".fast", "fast", model.fast),
            (".batch", "batch", model.batch),
        )
        for suffix, variant, rates in whole:
            stated = self._stated(f"{where}{suffix}", rates) if rates is not None else {}
            if stated:
                yield replace(always, variant=variant, flat=True).stating(stated)
        for number, row in enumerate(model.rows):
            place = f"{where}.rows[{number}]"
            if row.above and row.above not in BOUNDARIES:
                sizes = ", ".join(map(str, BOUNDARIES))
                self.problems.append(f"{place}.above: {row.above} is none of {sizes}")
            variant = STANDARD if row.variant == "standard" else row.variant
            dated = replace(self._period(place, row), variant=variant, above=row.above)
            yield dated.stating(self._stated(place, row))

    def _period(self, where: str, period: _Period) -> Rates:
        if period.since and period.until and period.until <= period.since:
            self.problems.append(f"{where}: ends on {period.until}, before it begins")
        return Rates(since=_text(period.since), until=_text(period.until))

    def _stated(self, where: str, rates: _Rates) -> dict[str, int]:
        stated = {}
        for field in (*BUCKETS, "web_search_per_1000"):
            amount = getattr(rates, field)
            if amount is None:
                continue
            try:
                stated[field.removesuffix("_per_1000")] = (
                    pico_per_token(amount) if field in BUCKETS else pico_per_search(amount)
                )
            except ValueError as error:
                self.problems.append(f"{where}.{field}: {error}")
        return stated

    def _factor(self, where: str, factor: Decimal) -> str:
        try:
            factor_of(factor)
        except ValueError as error:
            self.problems.append(f"{where}: {error}")
        return str(factor)


def _text(day: date | None) -> str:
    return day.isoformat() if day else ""


def _unknown_keys(value: object, kind: object, where: str) -> Iterable[str]:
    """Keys that a table may not have, each with what was probably meant."""
    if get_origin(kind) in (dict, tuple):
        inner = get_args(kind)[1 if get_origin(kind) is dict else 0]
        items = (
            value.items()
            if isinstance(value, Mapping)
            else enumerate(value)
            if isinstance(value, list)
            else ()
        )
        for key, one in items:
            yield from _unknown_keys(one, inner, f"{where}.{key}" if where else str(key))
        return
    if isinstance(kind, UnionType):
        kind = next(one for one in get_args(kind) if one is not type(None))
    if not (isinstance(kind, type) and issubclass(kind, Struct) and isinstance(value, Mapping)):
        return
    hints = get_type_hints(kind)
    fields = {field.encode_name: hints[field.name] for field in msgspec.structs.fields(kind)}
    for key, one in value.items():
        if key in fields:
            yield from _unknown_keys(one, fields[key], f"{where}.{key}" if where else key)
            continue
        close = difflib.get_close_matches(key, fields, n=1)
        hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(sorted(fields))}"
        yield f"{where + '.' if where else ''}{key} is not known; {hint}"
