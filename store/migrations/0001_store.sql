-- Records, tapes and what audit queries need of them.
--
-- Bodies are kept in compressed blocks, so whatever a query must see stands beside them in small
-- tables. Those hold nothing of their own: `verify` computes every one of their rows again.
-- A `place` is a run's key in the upper and a number within the run in the lower 32 bits: it
-- keeps what belongs together side by side, and costs no second index.

-- Texts that many rows share: names of tools, models, directories, sessions.
CREATE TABLE word (
    key INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE job (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE run (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    job INTEGER NOT NULL REFERENCES job (key),
    -- The run whose tape it is on; null for a root run.
    root INTEGER REFERENCES run (key),
    -- The run whose call started it; null for a root run. Runs of one tree go together, so what
    -- `root` refers to is enough.
    parent INTEGER,
    runtime INTEGER NOT NULL REFERENCES word (key),
    expert INTEGER REFERENCES word (key),
    model INTEGER REFERENCES word (key),
    session INTEGER REFERENCES word (key),
    cwd INTEGER REFERENCES word (key),
    cli_version INTEGER REFERENCES word (key),
    -- Null while the run is open.
    status INTEGER REFERENCES word (key),
    started_at INTEGER NOT NULL,
    finished_at INTEGER,
    steps INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    unparsed INTEGER NOT NULL,
    records INTEGER NOT NULL,
    input_tokens INTEGER,
    output_tokens INTEGER,
    reasoning_tokens INTEGER,
    cached_input_tokens INTEGER,
    cost_usd REAL,
    duration_ms INTEGER,
    error_name INTEGER REFERENCES word (key),
    error_family INTEGER REFERENCES word (key),
    error_message TEXT,
    error_status INTEGER,
    error_retryable INTEGER,
    error_retry_at INTEGER,
    -- How many records the search index has seen.
    searched INTEGER NOT NULL DEFAULT 0,
    -- What the writer knew before it began, and how the process ended; root runs only.
    context BLOB,
    exit BLOB,
    -- The seal that covers the run; null while its tree is open, and for a child.
    seal INTEGER
) STRICT;

CREATE INDEX run_by_start ON run (started_at, key);
CREATE INDEX run_by_job ON run (job);
CREATE INDEX run_by_session ON run (session) WHERE session IS NOT NULL;
CREATE INDEX run_by_root ON run (root) WHERE root IS NOT NULL;
CREATE INDEX run_open ON run (key) WHERE root IS NULL AND seal IS NULL;
CREATE INDEX run_unsearched ON run (key) WHERE searched < records;

-- Records of one run, in order, as JSON lines.
CREATE TABLE record_block (
    -- Run and sequence number of the first record.
    place INTEGER PRIMARY KEY,
    count INTEGER NOT NULL,
    -- Length of the lines before they were compressed.
    length INTEGER NOT NULL,
    -- The chain's hash after the last record.
    hash BLOB NOT NULL,
    -- The first bytes of the chain's hash after each record: they tell which one was changed.
    marks BLOB NOT NULL,
    body BLOB NOT NULL
) STRICT;

-- What a root run's process printed.
CREATE TABLE tape_block (
    -- Run and number of the block.
    place INTEGER PRIMARY KEY,
    stdout_start INTEGER NOT NULL,
    stdout_length INTEGER NOT NULL,
    stderr_start INTEGER NOT NULL,
    stderr_length INTEGER NOT NULL,
    -- When the first bytes were received, and the last ones.
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    -- Length before compressing: the two streams and the table of receive times.
    length INTEGER NOT NULL,
    -- The chain's hash after this block.
    hash BLOB NOT NULL,
    body BLOB NOT NULL
) STRICT;

-- Steps and their checkpoints.
CREATE TABLE step (
    run INTEGER NOT NULL REFERENCES run (key),
    step INTEGER NOT NULL,
    -- The checkpoint's record.
    seq INTEGER NOT NULL,
    checkpoint_id TEXT NOT NULL,
    status INTEGER NOT NULL REFERENCES word (key),
    started_at INTEGER NOT NULL,
    finished_at INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    tool_calls INTEGER NOT NULL,
    -- Calls without a result.
    pending INTEGER NOT NULL,
    -- What the step used.
    input_tokens INTEGER,
    output_tokens INTEGER,
    reasoning_tokens INTEGER,
    cached_input_tokens INTEGER,
    PRIMARY KEY (run, step)
) STRICT, WITHOUT ROWID;

-- The first characters tell checkpoints apart well enough, and keep the index small.
CREATE INDEX step_by_checkpoint ON step (substr(checkpoint_id, 1, 7));

CREATE TABLE tool_call (
    run INTEGER NOT NULL REFERENCES run (key),
    -- The message's record, and the part in it.
    seq INTEGER NOT NULL,
    part INTEGER NOT NULL,
    step INTEGER NOT NULL,
    at INTEGER NOT NULL,
    tool INTEGER NOT NULL REFERENCES word (key),
    command TEXT,
    -- A JSON array.
    paths TEXT,
    url TEXT,
    -- The record of the result; null while there is none.
    result_seq INTEGER,
    is_error INTEGER,
    duration_ms INTEGER,
    PRIMARY KEY (run, seq, part)
) STRICT, WITHOUT ROWID;

CREATE TABLE notice (
    run INTEGER NOT NULL REFERENCES run (key),
    seq INTEGER NOT NULL,
    step INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind INTEGER NOT NULL REFERENCES word (key),
    text TEXT NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE unparsed (
    run INTEGER NOT NULL REFERENCES run (key),
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    stream INTEGER NOT NULL,
    line INTEGER NOT NULL,
    tag INTEGER REFERENCES word (key),
    reason TEXT NOT NULL,
    excerpt TEXT,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

-- The ledger: tokens that count, and where each number comes from.
CREATE TABLE usage (
    run INTEGER NOT NULL REFERENCES run (key),
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    key TEXT NOT NULL,
    source INTEGER NOT NULL REFERENCES word (key),
    step INTEGER,
    model INTEGER REFERENCES word (key),
    input_tokens INTEGER,
    output_tokens INTEGER,
    reasoning_tokens INTEGER,
    cached_input_tokens INTEGER,
    -- Hash of session and key; null where no other run can report the same response.
    session_key INTEGER,
    -- An earlier run of the same session reported the same response.
    repeated INTEGER NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_by_session_key ON usage (session_key) WHERE session_key IS NOT NULL;

-- The chain of seals. An entry is a seal over a run, or says that one was removed.
CREATE TABLE seal (
    number INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    -- What the entry covers, as a hash.
    digest BLOB NOT NULL,
    -- Covers the digest and the entry before.
    hash BLOB NOT NULL,
    -- The run: kept here only once it is no longer found by its seal.
    run_id TEXT,
    -- For an entry that says so: the seal that was removed, and why.
    removes INTEGER,
    reason TEXT
) STRICT;

CREATE INDEX seal_removed ON seal (removes) WHERE removes IS NOT NULL;

-- Text of messages, tool inputs and outputs; the text itself is in the records.
CREATE VIRTUAL TABLE search USING fts5 (
    said, input, output,
    content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);
