"""Answers about tokens."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from stemma.store.answers.moment import Time


class By(StrEnum):
    """What usage can be grouped by."""

    DAY = "day"
    MODEL = "model"
    PROJECT = "project"
    SESSION = "session"
    AGENT = "agent"
    BRANCH = "branch"


class Figures(Struct, kw_only=True):
    """Sums over counted responses; figures of groups add up to those of the whole.

    Attributes:
        input: Uncached input tokens.
        output: Output tokens.
        cache_write_5m: Tokens written to the five-minute cache.
        cache_write_1h: Tokens written to the one-hour cache.
        cache_read: Tokens read from a cache.
        total: The five buckets together.
        responses: Responses, each once however often it is recorded.
        incomplete: Responses whose end was never written: their output is a lower bound.
        web_searches: Web searches that the service counted.
    """

    input: int = 0
    output: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    cache_read: int = 0
    total: int = 0
    responses: int = 0
    incomplete: int = 0
    web_searches: int = 0


class Totals(Figures, kw_only=True):
    """Sums over everything that was asked for, and what is not in them.

    Attributes:
        skipped_lines: Lines of the sources as they are now that could not be read, whatever range was asked for.
        anomalies: Responses with an impossible counter: listed, in no sum.
        split_ids: Message ids that several requests share, as some gateways hand them out.
        inherited: Copies of responses in sessions that did not make them: counted where they were made.
        undated: Responses without a time; a range leaves them out.
    """

    skipped_lines: int = 0
    anomalies: int = 0
    split_ids: int = 0
    inherited: int = 0
    undated: int = 0


class Group(Figures, kw_only=True):
    """Figures of one day, model, project, session, agent or branch.

    Attributes:
        key: What the group stands for; ``unknown`` where no record states it. Unique but for ``by`` agent, where the
            session and the agent together are.
        session: Session id, in groups by session or agent.
        agent: Agent id, in groups by agent.
        title: Title of the session, in groups by session or agent.
        label: Type of the agent, in groups by agent.
    """

    key: str
    session: str | None = None
    agent: str | None = None
    title: str | None = None
    label: str | None = None


class Anomaly(Struct, kw_only=True):
    """A response that is in no sum, because a counter of it is negative or implausibly large.

    Attributes:
        message_id: Id of the response.
        session: Its session.
        agent: Its agent.
        model: Its model.
        first_at: Its time.
        input: Counter as recorded.
        output: Counter as recorded.
        cache_write_5m: Counter as recorded.
        cache_write_1h: Counter as recorded.
        cache_read: Counter as recorded.
        path: Source of the record, inside its root.
        offset: Byte offset of the record.
    """

    message_id: str
    session: str
    agent: str
    model: str | None
    first_at: Time | None
    input: int
    output: int
    cache_write_5m: int
    cache_write_1h: int
    cache_read: int
    path: str
    offset: int


class UsageAnswer(Struct, kw_only=True):
    """What ``stemma usage`` answers.

    Attributes:
        by: What the groups are, or nothing when only totals were asked for.
        since: Start of the range, inclusive.
        until: End of the range, exclusive.
        timezone: Zone in which days are counted.
        totals: Sums over the range.
        groups: Sums of each group, days in order, everything else largest first.
        anomaly_list: What ``totals.anomalies`` counts.
    """

    by: By | None
    since: Time | None
    until: Time | None
    timezone: str
    totals: Totals
    groups: list[Group]
    anomaly_list: list[Anomaly]
