"""Packed forms: event segments and the bodies of usage claims."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import msgspec

from stemma.model.event import PackedEvent
from stemma.model.usage import Part, UsageClaim

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SEGMENT_BYTES = 256 << 10
"""Source bytes whose records share a segment; fixed, so that segments are a function of the bytes alone."""

UsageRow = tuple[str, int, int, int, int, int, bytes]
"""Columns of ``usage_claims`` in the order of ``USAGE_COLUMNS``."""

USAGE_COLUMNS = "message_id, offset, session, agent, model, at, body"

BROKEN = (msgspec.MsgspecError, zstd.ZstdError)
"""What unpacking raises when a packed form is damaged."""

_LEVEL = 3
_events = msgspec.msgpack.Decoder(list[PackedEvent])


def pack_events(events: list[PackedEvent]) -> bytes:
    """A segment's body."""
    return zstd.compress(msgspec.msgpack.encode(events), level=_LEVEL)


def unpack_events(body: bytes) -> list[PackedEvent]:
    """The inverse of ``pack_events``."""
    return _events.decode(zstd.decompress(body))


def pack_usage(claim: UsageClaim) -> bytes:
    """What a usage claim says beyond the columns of its row."""
    return msgspec.msgpack.encode(
        (
            claim.request_id, claim.uuid, claim.winner_offset, claim.sidechain, claim.via, claim.input, claim.output,
            claim.cache_write_5m, claim.cache_write_1h, claim.cache_read, claim.web_searches, claim.speed, claim.tier,
            claim.geo, claim.largest_input, claim.stop_reason, claim.version, claim.skill, claim.tool_server,
            claim.recorded_nano_usd, claim.flags, claim.records, claim.declared_session, claim.winner_at - claim.at,
            claim.parts,
        )
    )  # fmt: skip


def unpack_usage(row: UsageRow, text: Callable[[int], str]) -> UsageClaim:
    """The inverse of ``pack_usage``, given the row's other columns and a look-up of its names."""
    message_id, offset, session, agent, model, at, body = row
    fields: list[Any] = msgspec.msgpack.decode(body)
    request_id, uuid, winner_offset, sidechain, via, *rest, later, parts = fields
    claim = UsageClaim(
        message_id, request_id, uuid, offset, winner_offset, at, text(session), text(agent), sidechain, via,
        text(model), *rest,
    )  # fmt: skip
    claim.winner_at = at + later
    claim.parts = tuple(Part(*part) for part in parts)
    return claim
