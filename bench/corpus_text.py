"""Invented text, ids, sizes and times: the raw material of generated transcripts.

Every string made here is *wire text*: already escaped for a JSON string and
holding one character per UTF-8 byte. Records are then put together with plain
f-strings and encoded as Latin-1, which copies bytes instead of converting them.
"""

# the chances of a mix are plain numbers; quotes would hide the words
# ruff: noqa: PLR2004, SIM905

import base64
import json
import math
import random
from bisect import bisect_left
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from statistics import NormalDist

POOL_BYTES = 400_000
WORDS = (
    "adapter anchor batch beacon branch bridge buffer bundle cabin canal carrier cedar "
    "channel cipher clause cluster copper counter courier cursor delta depot digest "
    "drawer engine fabric falcon fence filter finder folder garden gather glacier grid "
    "handle harbor hinge index island janitor kernel ladder lantern layer ledger lever "
    "lookup marker meadow mirror module monitor needle notice novel orchard outlet packet "
    "parcel parser pattern pebble pillar planner pocket policy portal query quorum raster "
    "reader record relay report retry ribbon river rocket router sample saddle scanner "
    "schema sector signal silver socket sorter spindle stable station stream summit table "
    "target tunnel turbine update valley vector vessel walker window writer yield zephyr"
).split()
FOREIGN = (
    "Größe",
    "naïve",
    "façade",
    "Żółw",
    "Ωmega",
    "привет",
    "設定",
    "キャッシュ",
    "→",
    "✓",
    "“so”",
    "🚀",
)
GLUE = (
    "the",
    "a",
    "of",
    "and",
    "to",
    "with",
    "when",
    "before",
    "after",
    "because",
    "each",
    "no",
    "is",
    "was",
    "must",
)


def wire(text: str) -> str:
    """Return ``text`` as wire text."""
    escaped = json.dumps(text, ensure_ascii=False)[1:-1]
    return escaped.encode().decode("latin-1")


class Pool:
    """One long piece of wire text that may be cut at any line start."""

    def __init__(self, lines: list[str]) -> None:
        """Join ``lines`` (without line ends) and remember where each one starts."""
        pieces = [wire(line + "\n") for line in lines]
        self._text = "".join(pieces)
        self._cuts = [0]
        for piece in pieces:
            self._cuts.append(self._cuts[-1] + len(piece))

    def take(self, rng: random.Random, size: int) -> str:
        """Return whole lines of about ``size`` bytes from a random place."""
        begin = self._cuts[int(rng.random() * (len(self._cuts) - 1))]
        room = len(self._text) - begin
        if size <= room:
            return self._text[begin : self._cuts[bisect_left(self._cuts, begin + size)]]
        rounds, rest = divmod(size - room, len(self._text))
        return (
            self._text[begin:]
            + self._text * rounds
            + self._text[: self._cuts[bisect_left(self._cuts, rest)]]
        )


def _prose_line(rng: random.Random) -> str:
    words = [
        rng.choice(GLUE) if rng.random() < 0.4 else rng.choice(WORDS)
        for _ in range(8 + int(rng.random() * 18))
    ]
    if rng.random() < 0.15:
        words[3] = rng.choice(FOREIGN)
    if rng.random() < 0.2:
        words[5] = f'"{words[5]}"'
    if rng.random() < 0.2:
        words[2] = f"`{words[2]}_{words[4]}()`"
    text = " ".join(words).capitalize() + "."
    return text if rng.random() < 0.7 else f"- **{words[1]}**: {text}"


def _code_line(rng: random.Random) -> str:
    a, b, c = rng.choices(WORDS, k=3)
    shapes = (
        f"def {a}_{b}({c}: str, *, limit: int = {len(a) * 7}) -> list[str]:",
        f'    if {a}.{b} != "{c}":',
        f'        raise ValueError(f"{a} has no {{{b}!r}}")',
        f"    {a} = [{b} for {b} in {c}.{b}s if {b}.ready]",
        f"    return {a}.{b}({c}, key=lambda item: item[{len(c)}])",
        f"\t\t{a}[\"{b}\"] = {{'{c}': r'\\d+\\.{b}', \"n\": {len(b)}}}",
        f"    # {a} comes before {b}, never after {c}",
        "",
    )
    return rng.choice(shapes)


def _log_line(rng: random.Random) -> str:
    a, b, c = rng.choices(WORDS, k=3)
    n = rng.randrange(10_000)
    shapes = (
        f"src/{a}/{b}_{c}.py:{n % 700}:{n % 80}: {c} is not a {a}",
        f"[{n:05d}] INFO {a}.{b} {c}={n} took {n / 97:.2f} ms",
        f"tests/{a}/test_{b}.py::test_{c}_{a} PASSED   [{n % 100:3d}%]",
        f'{{"{a}":"{b}","{c}":{n}}}',
        f"  {n % 300:>6}\t{a}/{b}/{c}.txt",
        f"\x1b[3{n % 8}m{a}\x1b[0m ✓ {b} ({n} {c}s)",
    )
    return rng.choice(shapes)


def _fill(make: Callable[[random.Random], str], rng: random.Random) -> Pool:
    lines: list[str] = []
    size = 0
    while size < POOL_BYTES:
        line = make(rng)
        size += len(line) + 2
        lines.append(line)
    return Pool(lines)


class Filler:
    """The pools, one per kind of text."""

    def __init__(self) -> None:
        """Build every pool; the same text in every process."""
        rng = random.Random(20_240_229)
        self.prose = _fill(_prose_line, rng)
        self.code = _fill(_code_line, rng)
        self.log = _fill(_log_line, rng)
        self._phrases = [" ".join(rng.choices(WORDS, k=3 + index % 4)) for index in range(4096)]
        self._paths = ["/".join(["src", *rng.choices(WORDS, k=2)]) + ".py" for _ in range(1024)]
        self._base64 = base64.b64encode(rng.randbytes(300_000)).decode()

    def phrase(self, rng: random.Random) -> str:
        """Return three to six words."""
        return self._phrases[int(rng.random() * 4096)]

    def path(self, rng: random.Random) -> str:
        """Return a source path relative to a project."""
        return self._paths[int(rng.random() * 1024)]

    def base64(self, rng: random.Random, size: int) -> str:
        """Return ``size`` characters of base64: a signature or an image."""
        begin = int(rng.random() * 100_000)
        rounds = (begin + size) // len(self._base64)
        return (self._base64 * (rounds + 1))[begin : begin + size]


@cache
def filler() -> Filler:
    """Return the process's filler, built at the first call."""
    return Filler()


class Sizes:
    """Log-normal sizes drawn from a table instead of computed each time."""

    def __init__(self, *, median: float, p90: float, low: int, high: int) -> None:
        """Tabulate the distribution with this median and 90th percentile, cut to ``low`` .. ``high``."""
        normal = NormalDist(math.log(median), math.log(p90 / median) / NormalDist().inv_cdf(0.9))
        self.table = [
            min(high, max(low, int(math.exp(normal.inv_cdf((i + 0.5) / 4096)))))
            for i in range(4096)
        ]

    def draw(self, rng: random.Random) -> int:
        """Return one size."""
        return self.table[int(rng.random() * 4096)]


class Ids:
    """Makers of the identifiers a client writes."""

    def __init__(self, rng: random.Random) -> None:
        """Draw every id from ``rng``."""
        self._bits = rng.getrandbits

    def uuid(self) -> str:
        """Return a version 4 UUID."""
        h = f"{self._bits(128):032x}"
        return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:]}"

    def message(self) -> str:
        """Return an API message id."""
        return f"msg_01{self._bits(88):022x}"

    def tool(self) -> str:
        """Return a tool_use id."""
        return f"toolu_01{self._bits(88):022x}"

    def request(self) -> str:
        """Return an API request id."""
        return f"req_011C{self._bits(80):020x}"

    def digest(self) -> str:
        """Return 64 hexadecimal digits."""
        return f"{self._bits(256):064x}"

    def agent(self, digits: int) -> str:
        """Return an agent id of ``digits`` characters; all but the 8 digit ones start with ``a``."""
        if digits == 8:
            return f"{self._bits(32):08x}"
        return f"a{self._bits(4 * (digits - 1)):0{digits - 1}x}"


class Clock:
    """A time that only moves when told to, in milliseconds since 1970."""

    def __init__(self, now: int) -> None:
        """Start at ``now``."""
        self.now = now
        self._minute = -1
        self._prefix = ""

    def fork(self) -> "Clock":
        """Return an independent clock showing the same time."""
        return Clock(self.now)

    def stamp(self, step: int) -> str:
        """Move on by ``step`` and return the time as a client writes it."""
        self.now += step
        minute, rest = divmod(self.now, 60_000)
        if minute != self._minute:
            self._minute = minute
            self._prefix = datetime.fromtimestamp(minute * 60, UTC).strftime("%Y-%m-%dT%H:%M:")
        return f"{self._prefix}{rest // 1000:02d}.{rest % 1000:03d}Z"
