"""One layer of prices: what a source states of models, as data. The shipped JSON files have this form."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from stemma.model.money import BILLED, STANDARD

ALL = "*"
"""Every provider, or every model."""


class Factor(NamedTuple):
    """A positive rational number.

    Attributes:
        numerator: Its numerator.
        denominator: Its denominator.
    """

    numerator: int
    denominator: int

    def __str__(self) -> str:
        return f"{(Decimal(self.numerator) / self.denominator).normalize():f}"


def factor_of(text: str | Decimal) -> Factor:
    """The exact fraction of a decimal number.

    Raises:
        ValueError: It is no number, or not above zero.
    """
    try:
        factor = Factor(*Decimal(text).as_integer_ratio())
    except (ArithmeticError, ValueError, OverflowError):
        raise ValueError(f"{text!r} is not a factor") from None
    if factor.numerator <= 0:
        raise ValueError(f"the factor {text} is not above zero")
    return factor


class Rates(
    Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    rename={"since": "from"},
):
    """Rates of one model for one variant, context tier and period; what is None is not stated here.

    Attributes:
        since: First UTC day, ``YYYY-MM-DD``; empty: always.
        until: First UTC day after the period; empty: open.
        above: For requests with a whole prompt of more tokens than this.
        variant: ``STANDARD``, ``ANY_VARIANT``, ``fast``, ``batch`` and the like.
        flat: Whether these rates replace those of every context tier in lower layers.
        input: Pico-dollars per token; and so on.
        output: See ``input``.
        cache_write_5m: See ``input``.
        cache_write_1h: See ``input``.
        cache_read: See ``input``.
        web_search: Pico-dollars per search.
        reason: Why a layer of ours states it.
    """

    since: str = ""
    until: str = ""
    above: int = 0
    variant: str = STANDARD
    flat: bool = False
    input: int | None = None
    output: int | None = None
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None
    cache_read: int | None = None
    web_search: int | None = None
    reason: str = ""

    def stating(self, rates: Mapping[str, int]) -> Rates:
        """These rates with others stated as well, by bucket."""
        return replace(self, **rates)

    def stated(self) -> list[tuple[str, int]]:
        """Buckets with a rate, and the rate."""
        pairs = ((bucket, getattr(self, bucket)) for bucket in BILLED)
        return [(bucket, pico) for bucket, pico in pairs if pico is not None]


class ModelEntry(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a layer says of one model.

    Attributes:
        provider: Who bills.
        name: Canonical name, as ``identify`` gives it.
        aliases: Further exact ids of it, lower case.
        rates: Its rates.
        reason: Why a layer of ours states it.
    """

    provider: str
    name: str
    aliases: tuple[str, ...] = ()
    rates: tuple[Rates, ...] = ()
    reason: str = ""


class _Selection(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    provider: str = ALL
    models: tuple[str, ...] = (ALL,)
    excluding: tuple[str, ...] = ()

    def selects(self, provider: str, name: str) -> bool:
        """Whether the rule is about a model. Names are compared with and without Bedrock's scope; ``*`` ends a prefix."""
        if self.provider not in (ALL, provider):
            return False
        return _named(name, self.models) and not _named(name, self.excluding)


def _named(name: str, patterns: tuple[str, ...]) -> bool:
    names = {name, bare_name(name)}
    return any(
        pattern in names
        or (pattern.endswith("*") and any(one.startswith(pattern[:-1]) for one in names))
        for pattern in patterns
    )


def bare_name(name: str) -> str:
    """A canonical name without Bedrock's scope."""
    return name.removeprefix("global.").removeprefix("regional.")


class DerivedRates(
    _Selection,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    rename={"since": "from"},
):
    """Rates that follow from others; they fill gaps, and never replace a stated rate unless they say so.

    Attributes:
        provider: Whose models.
        models: Which.
        excluding: Which not.
        variant: Variant whose rates these are.
        bucket: Bucket whose rate this is; empty: every token bucket.
        of: Bucket of the standard variant that the rate is a multiple of; empty: the same.
        factor: The multiple.
        pico_usd: The rate itself, instead of a multiple; -1 for none.
        since: First UTC day; empty: always.
        until: First UTC day after the period; empty: open.
        replaces: Whether a rate of a lower layer gives way.
        reason: Why.
    """

    variant: str = STANDARD
    bucket: str = ""
    of: str = ""
    factor: str = "1"
    pico_usd: int = -1
    since: str = ""
    until: str = ""
    replaces: bool = False
    reason: str = ""


class Multiplier(
    _Selection, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A factor on every token rate, not on searches; several stack.

    Attributes:
        provider: Whose models.
        models: Which.
        excluding: Which not.
        geos: Inference geographies that it is for; empty: all.
        scopes: Scopes of the id that it is for; empty: all.
        factor: The factor.
        reason: Why.
    """

    geos: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    factor: str = "1"
    reason: str = ""


class NeutralTiers(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Service tiers that are billed at the standard rates.

    Attributes:
        provider: Who bills.
        tiers: The tiers, as served.
        reason: Why.
    """

    provider: str
    tiers: tuple[str, ...]
    reason: str


class Allowed(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """An entry of the allow-list: a rate that breaks an invariant and is right all the same.

    Attributes:
        provider: Who bills.
        model: Canonical name without scope, or ``ALL``.
        invariant: Which check it passes (``check.py``).
        bucket: For which bucket; empty: all.
        reason: Why it is right.
    """

    provider: str
    model: str
    invariant: str
    bucket: str = ""
    reason: str


class Layer(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Everything that one source of prices states.

    Attributes:
        source: Its name, which becomes the provenance of rows.
        version: Its version.
        models: Models and their rates.
        derived: Rates that follow from others.
        multipliers: Factors on token rates.
        neutral_tiers: Service tiers without a price of their own.
        aliases: Ids that stand for another id, lower case.
        allowed: The allow-list.
    """

    source: str
    version: str = ""
    models: tuple[ModelEntry, ...] = ()
    derived: tuple[DerivedRates, ...] = ()
    multipliers: tuple[Multiplier, ...] = ()
    neutral_tiers: tuple[NeutralTiers, ...] = ()
    aliases: dict[str, str] = {}
    allowed: tuple[Allowed, ...] = ()

    @property
    def provenance(self) -> str:
        """Source and version."""
        return f"{self.source} {self.version}".rstrip()
