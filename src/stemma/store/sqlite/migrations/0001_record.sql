-- The record. Evidence tables are a function of the evidence alone; control tables record this collector's history.
-- Texts that repeat (session, agent, model, ...) are kept once in `names`; their numbers depend on ingest order and never
-- leave this file: every dump and query gives the text.

CREATE TABLE names (
    id   INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE instances (
    id    INTEGER PRIMARY KEY,
    host  TEXT NOT NULL,
    agent TEXT NOT NULL,             -- agent product
    root  TEXT NOT NULL,             -- resolved folder of its transcripts
    UNIQUE (host, agent, root)
) STRICT;

-- ---------------------------------------------------------------- evidence, layer 1: raw source records

CREATE TABLE sources (
    id           INTEGER PRIMARY KEY,
    instance     INTEGER NOT NULL REFERENCES instances (id),
    path         TEXT NOT NULL,      -- inside the root
    kind         TEXT NOT NULL,      -- main, agent, sidecar, workflow, journal
    project      TEXT NOT NULL,      -- project_slug
    session_hint TEXT NOT NULL,
    agent_hint   TEXT NOT NULL,
    run_hint     TEXT NOT NULL,
    UNIQUE (instance, path)
) STRICT;

CREATE TABLE generations (
    source     INTEGER NOT NULL REFERENCES sources (id),
    generation INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,     -- consumed
    revision   INTEGER NOT NULL,     -- of the adapter that read it
    PRIMARY KEY (source, generation)
) STRICT, WITHOUT ROWID;

CREATE TABLE record_kinds (
    source       INTEGER NOT NULL REFERENCES sources (id),
    generation   INTEGER NOT NULL,
    type         TEXT NOT NULL,
    subtype      TEXT NOT NULL,
    known        INTEGER NOT NULL,
    count        INTEGER NOT NULL,
    first_offset INTEGER NOT NULL,
    last_offset  INTEGER NOT NULL,
    PRIMARY KEY (source, generation, type, subtype)
) STRICT, WITHOUT ROWID;

CREATE TABLE line_faults (
    source     INTEGER NOT NULL REFERENCES sources (id),
    generation INTEGER NOT NULL,
    offset     INTEGER NOT NULL,
    length     INTEGER NOT NULL,
    reason     TEXT NOT NULL,
    detail     TEXT NOT NULL,
    PRIMARY KEY (source, generation, offset, reason, detail)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------- evidence, layer 2: normalized events

-- Events of one stretch of a source's bytes, cut by source bytes and never by tick: zstd over msgpack.
CREATE TABLE event_segments (
    source     INTEGER NOT NULL REFERENCES sources (id),
    generation INTEGER NOT NULL,
    segment    INTEGER NOT NULL,     -- offset of the records divided by the segment length
    count      INTEGER NOT NULL,
    body       BLOB NOT NULL,
    PRIMARY KEY (source, generation, segment)
) STRICT;

-- ---------------------------------------------------------------- evidence: claims of single sources

CREATE TABLE claims (
    session    INTEGER NOT NULL REFERENCES names (id),
    subject    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    source     INTEGER NOT NULL REFERENCES sources (id),
    generation INTEGER NOT NULL,
    offset     INTEGER NOT NULL,
    ordinal    INTEGER NOT NULL,
    at         INTEGER NOT NULL,     -- microseconds, 0 unknown
    grade      INTEGER NOT NULL,
    link       TEXT NOT NULL,        -- what the other side of a join names: tool-use id, run id, or a call's prompt
    body       TEXT NOT NULL,        -- JSON
    PRIMARY KEY (session, subject, kind, source, generation, offset, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX claims_by_link ON claims (session, link) WHERE link <> '';
CREATE INDEX claims_by_source ON claims (source, generation);

CREATE TABLE usage_claims (
    message_id       TEXT NOT NULL,
    source           INTEGER NOT NULL REFERENCES sources (id),
    generation       INTEGER NOT NULL,
    offset           INTEGER NOT NULL,
    session          INTEGER NOT NULL REFERENCES names (id),
    agent            INTEGER NOT NULL REFERENCES names (id),
    model            INTEGER NOT NULL REFERENCES names (id),
    at               INTEGER NOT NULL,
    body             BLOB NOT NULL,  -- the rest of the claim, msgpack, fields in the order of UsageClaim
    PRIMARY KEY (message_id, source, generation, offset)
) STRICT, WITHOUT ROWID;

CREATE TABLE participations (
    session          INTEGER NOT NULL REFERENCES names (id),
    agent            INTEGER NOT NULL REFERENCES names (id),
    source           INTEGER NOT NULL REFERENCES sources (id),
    generation       INTEGER NOT NULL,
    first_at         INTEGER NOT NULL,
    last_at          INTEGER NOT NULL,
    first_offset     INTEGER NOT NULL,
    last_offset      INTEGER NOT NULL,
    records          INTEGER NOT NULL,
    conversation     INTEGER NOT NULL,
    prompts          INTEGER NOT NULL,
    responses        INTEGER NOT NULL,
    tools            INTEGER NOT NULL,
    api_errors       INTEGER NOT NULL,
    compactions      INTEGER NOT NULL,
    cwd              INTEGER NOT NULL REFERENCES names (id),
    branch           INTEGER NOT NULL REFERENCES names (id),
    version          INTEGER NOT NULL REFERENCES names (id),
    entrypoint       INTEGER NOT NULL REFERENCES names (id),
    model            INTEGER NOT NULL REFERENCES names (id),
    type             INTEGER NOT NULL REFERENCES names (id),
    title            TEXT NOT NULL,
    title_rank       INTEGER NOT NULL,
    first_prompt     TEXT NOT NULL,
    prompt_digest    TEXT NOT NULL,
    root_session     INTEGER NOT NULL REFERENCES names (id),
    status           TEXT NOT NULL,
    status_reason    TEXT NOT NULL,
    status_at        INTEGER NOT NULL,
    process_ended_at INTEGER NOT NULL,
    headless         INTEGER NOT NULL,
    PRIMARY KEY (session, agent, source, generation)
) STRICT, WITHOUT ROWID;
CREATE INDEX participations_by_prompt ON participations (session, prompt_digest) WHERE prompt_digest <> '';
CREATE INDEX participations_by_source ON participations (source, generation);

CREATE TABLE turns (
    source        INTEGER NOT NULL REFERENCES sources (id),
    generation    INTEGER NOT NULL,
    offset        INTEGER NOT NULL,
    uuid          TEXT NOT NULL,
    session       INTEGER NOT NULL REFERENCES names (id),
    agent         INTEGER NOT NULL REFERENCES names (id),
    origin        TEXT NOT NULL,
    opened_at     INTEGER NOT NULL,
    last_at       INTEGER NOT NULL,
    status        TEXT NOT NULL,
    duration      INTEGER NOT NULL,
    prompt        TEXT NOT NULL,
    first_message TEXT NOT NULL,
    responses     INTEGER NOT NULL,
    tools         INTEGER NOT NULL,
    errors        INTEGER NOT NULL,
    PRIMARY KEY (source, generation, offset)
) STRICT, WITHOUT ROWID;

CREATE TABLE tool_executions (
    source        INTEGER NOT NULL REFERENCES sources (id),
    generation    INTEGER NOT NULL,
    offset        INTEGER NOT NULL,
    ordinal       INTEGER NOT NULL,
    tool_use      TEXT NOT NULL,
    session       INTEGER NOT NULL REFERENCES names (id),
    agent         INTEGER NOT NULL REFERENCES names (id),
    turn          INTEGER NOT NULL,
    name          INTEGER NOT NULL REFERENCES names (id),
    action        TEXT NOT NULL,
    target        TEXT NOT NULL,
    message_id    TEXT NOT NULL,
    started_at    INTEGER NOT NULL,
    ended_at      INTEGER NOT NULL,
    status        TEXT NOT NULL,
    reason        TEXT NOT NULL,
    exit_code     INTEGER NOT NULL,
    result_bytes  INTEGER NOT NULL,
    result_offset INTEGER NOT NULL,
    PRIMARY KEY (source, generation, offset, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE compactions (
    source        INTEGER NOT NULL REFERENCES sources (id),
    generation    INTEGER NOT NULL,
    offset        INTEGER NOT NULL,
    uuid          TEXT NOT NULL,
    session       INTEGER NOT NULL REFERENCES names (id),
    agent         INTEGER NOT NULL REFERENCES names (id),
    at            INTEGER NOT NULL,
    "trigger"     TEXT NOT NULL,
    tokens_before INTEGER NOT NULL,
    tokens_after  INTEGER NOT NULL,
    duration      INTEGER NOT NULL,
    PRIMARY KEY (source, generation, offset)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------- evidence, layer 3: relationships

CREATE TABLE relationships (
    session    INTEGER NOT NULL REFERENCES names (id),
    child      INTEGER NOT NULL REFERENCES names (id),
    path       TEXT NOT NULL,        -- join path, DESIGN section 4
    parent     INTEGER NOT NULL REFERENCES names (id),
    source     INTEGER NOT NULL REFERENCES sources (id),
    generation INTEGER NOT NULL,
    offset     INTEGER NOT NULL,
    grade      INTEGER NOT NULL,
    basis      TEXT NOT NULL,
    spawned_at INTEGER NOT NULL,
    tool_use   TEXT NOT NULL,
    PRIMARY KEY (session, child, path, parent, source, generation, offset)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------- evidence: facts, re-derived from claims

CREATE TABLE sessions (
    session      INTEGER PRIMARY KEY REFERENCES names (id),
    instance     INTEGER NOT NULL REFERENCES instances (id),
    project      TEXT NOT NULL,
    cwd          INTEGER NOT NULL REFERENCES names (id),
    branch       INTEGER NOT NULL REFERENCES names (id),
    model        INTEGER NOT NULL REFERENCES names (id),
    version      INTEGER NOT NULL REFERENCES names (id),
    entrypoint   INTEGER NOT NULL REFERENCES names (id),
    title        TEXT NOT NULL,
    title_basis  TEXT NOT NULL,
    started_at   INTEGER NOT NULL,
    last_at      INTEGER NOT NULL,
    prompts      INTEGER NOT NULL,
    compactions  INTEGER NOT NULL,
    api_errors   INTEGER NOT NULL,
    root_session INTEGER NOT NULL REFERENCES names (id),
    completeness TEXT NOT NULL
) STRICT;

CREATE TABLE agents (
    session       INTEGER NOT NULL REFERENCES names (id),
    agent         INTEGER NOT NULL REFERENCES names (id),
    instance      INTEGER NOT NULL REFERENCES instances (id),
    kind          TEXT NOT NULL,
    kind_grade    INTEGER NOT NULL,
    type          INTEGER NOT NULL REFERENCES names (id),
    name          TEXT NOT NULL,
    description   TEXT NOT NULL,
    model         INTEGER NOT NULL REFERENCES names (id),
    first_at      INTEGER NOT NULL,
    last_at       INTEGER NOT NULL,
    runs          INTEGER NOT NULL,
    responses     INTEGER NOT NULL,
    tools         INTEGER NOT NULL,
    status        TEXT NOT NULL,
    status_reason TEXT NOT NULL,
    status_grade  INTEGER NOT NULL,
    status_basis  TEXT NOT NULL,
    status_at     INTEGER NOT NULL,
    workflow_run  TEXT NOT NULL,
    PRIMARY KEY (session, agent)
) STRICT, WITHOUT ROWID;

CREATE TABLE edges (
    session    INTEGER NOT NULL REFERENCES names (id),
    child      INTEGER NOT NULL REFERENCES names (id),
    instance   INTEGER NOT NULL REFERENCES instances (id),
    parent     INTEGER NOT NULL REFERENCES names (id),
    path       TEXT NOT NULL,
    grade      INTEGER NOT NULL,
    basis      TEXT NOT NULL,
    source     INTEGER NOT NULL REFERENCES sources (id),
    generation INTEGER NOT NULL,
    offset     INTEGER NOT NULL,
    spawned_at INTEGER NOT NULL,
    tool_use   TEXT NOT NULL,
    PRIMARY KEY (session, child)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflow_runs (
    session     INTEGER NOT NULL REFERENCES names (id),
    run         TEXT NOT NULL,
    instance    INTEGER NOT NULL REFERENCES instances (id),
    name        TEXT NOT NULL,
    agent       INTEGER NOT NULL REFERENCES names (id),   -- that ran it; main when no dispatch record names the run
    agent_grade INTEGER NOT NULL,
    tool_use    TEXT NOT NULL,
    task        TEXT NOT NULL,
    status      TEXT NOT NULL,
    started_at  INTEGER NOT NULL,
    PRIMARY KEY (session, run)
) STRICT, WITHOUT ROWID;

-- One row per counted request and billed part.
CREATE TABLE usage (
    message_id     TEXT NOT NULL,
    request        INTEGER NOT NULL,  -- 0, or a number where one gateway id stands for several requests
    part           INTEGER NOT NULL,  -- 0 the response itself
    part_kind      TEXT NOT NULL,     -- message, advisor, compaction
    instance       INTEGER NOT NULL REFERENCES instances (id),
    session        INTEGER NOT NULL REFERENCES names (id),
    agent          INTEGER NOT NULL REFERENCES names (id),
    model          INTEGER NOT NULL REFERENCES names (id),
    first_at       INTEGER NOT NULL,
    input          INTEGER NOT NULL,
    output         INTEGER NOT NULL,
    cache_write_5m INTEGER NOT NULL,
    cache_write_1h INTEGER NOT NULL,
    cache_read     INTEGER NOT NULL,
    web_searches   INTEGER NOT NULL,
    largest_input  INTEGER NOT NULL,
    speed          TEXT NOT NULL,
    tier           TEXT NOT NULL,
    geo            TEXT NOT NULL,
    skill          TEXT NOT NULL,
    tool_server    TEXT NOT NULL,
    recorded_nano_usd INTEGER NOT NULL,
    state          INTEGER NOT NULL,  -- bit set: 1 incomplete, 2 anomaly, 4 gateway split, 8 shared, 16 owner inferred, 32 breakdown exceeds, 64 synthetic
    source         INTEGER NOT NULL REFERENCES sources (id),
    generation     INTEGER NOT NULL,
    offset         INTEGER NOT NULL,  -- winning record
    records        INTEGER NOT NULL,
    PRIMARY KEY (message_id, request, part)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_by_session ON usage (session);

-- Sessions that hold a response which more than one session holds.
CREATE TABLE message_sessions (
    session    INTEGER NOT NULL REFERENCES names (id),
    message_id TEXT NOT NULL,
    owner      INTEGER NOT NULL REFERENCES names (id),
    PRIMARY KEY (session, message_id)
) STRICT, WITHOUT ROWID;

-- Sessions that share responses with others, and the times that decide who owns those.
CREATE TABLE shared_sessions (
    session      INTEGER PRIMARY KEY REFERENCES names (id),
    started_at   INTEGER NOT NULL,
    first_own_at INTEGER NOT NULL     -- first response that no other session holds, 0 when every one is shared
) STRICT;

CREATE TABLE lineage (
    session INTEGER NOT NULL REFERENCES names (id),
    origin  INTEGER NOT NULL REFERENCES names (id),
    kind    TEXT NOT NULL,            -- fork, clear
    grade   INTEGER NOT NULL,
    basis   TEXT NOT NULL,
    shared  INTEGER NOT NULL,         -- responses that the session holds of the origin
    PRIMARY KEY (session, origin, kind)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------- evidence, layers 4 and 5: kept apart, never written back

CREATE TABLE inferences (
    id          TEXT PRIMARY KEY,
    session     INTEGER NOT NULL REFERENCES names (id),
    kind        TEXT NOT NULL,
    method      TEXT NOT NULL,
    confidence  REAL NOT NULL CHECK (confidence < 1),
    evidence    TEXT NOT NULL,        -- JSON list of event ids
    body        TEXT NOT NULL         -- JSON
) STRICT, WITHOUT ROWID;

CREATE TABLE experimental_results (
    id       TEXT PRIMARY KEY,
    design   TEXT NOT NULL,
    body     TEXT NOT NULL            -- JSON
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------- control

CREATE TABLE checkpoints (
    source      INTEGER PRIMARY KEY REFERENCES sources (id),
    generation  INTEGER NOT NULL,
    body        BLOB NOT NULL,        -- model.source.Checkpoint, msgpack
    state       BLOB NOT NULL,        -- the adapter's memory
    removed_at  INTEGER NOT NULL      -- 0 while the file is there
) STRICT;

CREATE TABLE skips (
    instance   INTEGER NOT NULL REFERENCES instances (id),
    path       TEXT NOT NULL,
    reason     TEXT NOT NULL,
    detail     TEXT NOT NULL,
    first_seen INTEGER NOT NULL,
    last_seen  INTEGER NOT NULL,
    PRIMARY KEY (instance, path, reason)
) STRICT, WITHOUT ROWID;

CREATE TABLE quarantine (
    instance INTEGER NOT NULL REFERENCES instances (id),
    path     TEXT NOT NULL,
    body     BLOB NOT NULL,           -- collect.quarantine's state, msgpack
    PRIMARY KEY (instance, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE epochs (
    id          INTEGER PRIMARY KEY,
    adapter     TEXT NOT NULL,
    revision    INTEGER NOT NULL,
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER NOT NULL,     -- 0 while running
    state       TEXT NOT NULL,        -- running, completed, failed
    outcome     TEXT NOT NULL,        -- tick outcome
    sources     INTEGER NOT NULL,
    changed     INTEGER NOT NULL,
    removed     INTEGER NOT NULL,
    processed   INTEGER NOT NULL,
    failed      INTEGER NOT NULL,
    late        INTEGER NOT NULL,
    watermark   TEXT NOT NULL,        -- keyed digest over the sources' high-water marks, no paths
    first_change INTEGER NOT NULL,    -- storage revision at the start
    last_change  INTEGER NOT NULL,
    detail      TEXT NOT NULL
) STRICT;

CREATE TABLE changes (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    entity   TEXT NOT NULL,           -- session
    key      TEXT NOT NULL,
    at       INTEGER NOT NULL         -- receipt, microseconds
) STRICT;
