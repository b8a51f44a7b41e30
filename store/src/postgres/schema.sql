-- Records, tapes and what audit queries need of them, on a server.
--
-- Every key of what belongs to a tree of runs begins with the id of its root run: that is the column by which the
-- tables can be spread over machines, and all of a tree is on one of them. So there are no sequences, no foreign keys
-- and no shared words, and no unique key without that column. Texts are compared byte by byte, as in a database file.
-- Bodies are compressed already: the server need not try.

-- What a recorder knew before a root run began, and how its process ended; the seal that covers the tree, null while it
-- is open. `summed`: the sums hold what the tree used (1), or never will (2).
CREATE TABLE root (
    root_id text COLLATE "C" NOT NULL,
    context bytea,
    exit bytea,
    seal_chain integer,
    seal_number bigint,
    summed smallint NOT NULL DEFAULT 0,
    -- The number that the next run of the tree gets: none is given twice.
    next_no bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (root_id)
) /* by root_id */;
CREATE INDEX root_unsummed ON root (summed, seal_number) WHERE summed <> 1;
CREATE INDEX root_by_seal ON root (seal_chain, seal_number);

-- Runs: the root run of a tree has the number 0.
CREATE TABLE run (
    root_id text COLLATE "C" NOT NULL,
    run_no bigint NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    job_id text COLLATE "C" NOT NULL,
    -- The run whose call started it; null for a root run.
    parent_no bigint,
    runtime text COLLATE "C" NOT NULL,
    expert text COLLATE "C",
    model text COLLATE "C",
    session text COLLATE "C",
    cwd text COLLATE "C",
    cli_version text COLLATE "C",
    -- Null while the run is open.
    status text COLLATE "C",
    started_at bigint NOT NULL,
    finished_at bigint,
    steps bigint NOT NULL,
    messages bigint NOT NULL,
    unparsed bigint NOT NULL,
    records bigint NOT NULL,
    input_tokens bigint,
    output_tokens bigint,
    reasoning_tokens bigint,
    cached_input_tokens bigint,
    cost_usd double precision,
    duration_ms bigint,
    error_name text COLLATE "C",
    error_family text COLLATE "C",
    error_message text COLLATE "C",
    error_status bigint,
    error_retryable bigint,
    error_retry_at bigint,
    reported_duration_ms bigint,
    prompt text COLLATE "C",
    argv text COLLATE "C",
    permission_mode text COLLATE "C",
    host text COLLATE "C",
    "user" text COLLATE "C",
    exit_code bigint,
    signal text COLLATE "C",
    git_commit text COLLATE "C",
    git_branch text COLLATE "C",
    labels text COLLATE "C",
    -- How it went, in one word.
    outcome text COLLATE "C",
    session_title text COLLATE "C",
    -- How many records the search index has seen.
    searched bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (root_id, run_no),
    UNIQUE (root_id, run_id)
) /* by root_id */;
CREATE INDEX run_by_start ON run (started_at DESC, run_id DESC);
-- Which runs were active in a period, and from where on they are to be read in the order of their beginnings.
CREATE INDEX run_by_end ON run (finished_at, started_at);
CREATE INDEX run_failed ON run (finished_at DESC, run_id DESC) WHERE error_name IS NOT NULL;
CREATE INDEX run_by_id ON run (run_id);
CREATE INDEX run_by_job ON run (job_id, started_at, run_id);
-- A session's id may be longer than an index takes.
CREATE INDEX run_by_session ON run (md5(session), started_at, run_id) WHERE session IS NOT NULL;
CREATE INDEX run_unsearched ON run (root_id, run_no) WHERE searched < records;

-- In which tree a run is: an id is one of one tree.
CREATE TABLE run_place (
    run_id text COLLATE "C" NOT NULL,
    root_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (run_id)
) /* by run_id */;

-- Records of one run, in order, as compressed JSON lines.
CREATE TABLE record_block (
    root_id text COLLATE "C" NOT NULL,
    run_no bigint NOT NULL,
    first_seq bigint NOT NULL,
    count bigint NOT NULL,
    -- Length of the lines before they were compressed.
    length bigint NOT NULL,
    -- The chain's hash after the last record, and its first bytes after each one.
    hash bytea NOT NULL,
    marks bytea NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (root_id, run_no, first_seq)
) /* by root_id */;
ALTER TABLE record_block ALTER COLUMN body SET STORAGE EXTERNAL;

-- What a root run's process printed.
CREATE TABLE tape_block (
    root_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    first_at bigint NOT NULL,
    last_at bigint NOT NULL,
    length bigint NOT NULL,
    hash bytea NOT NULL,
    body bytea NOT NULL,
    stdout_start bigint NOT NULL,
    stdout_length bigint NOT NULL,
    stderr_start bigint NOT NULL,
    stderr_length bigint NOT NULL,
    stdin_start bigint NOT NULL,
    stdin_length bigint NOT NULL,
    history_start bigint NOT NULL,
    history_length bigint NOT NULL,
    PRIMARY KEY (root_id, number)
) /* by root_id */;
ALTER TABLE tape_block ALTER COLUMN body SET STORAGE EXTERNAL;

-- Steps and their checkpoints.
CREATE TABLE step (
    root_id text COLLATE "C" NOT NULL,
    run_no bigint NOT NULL,
    step bigint NOT NULL,
    seq bigint NOT NULL,
    checkpoint_id text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    started_at bigint NOT NULL,
    finished_at bigint NOT NULL,
    messages bigint NOT NULL,
    tool_calls bigint NOT NULL,
    pending bigint NOT NULL,
    input_tokens bigint,
    output_tokens bigint,
    reasoning_tokens bigint,
    cached_input_tokens bigint,
    PRIMARY KEY (root_id, run_no, step)
) /* by root_id */;
CREATE INDEX step_by_checkpoint ON step (checkpoint_id);

CREATE TABLE tool_call (
    root_id text COLLATE "C" NOT NULL,
    run_no bigint NOT NULL,
    seq bigint NOT NULL,
    part bigint NOT NULL,
    step bigint NOT NULL,
    at bigint NOT NULL,
    tool text COLLATE "C" NOT NULL,
    command text COLLATE "C",
    -- A JSON array.
    paths text COLLATE "C",
    url text COLLATE "C",
    -- The record of the result; null while there is none.
    result_seq bigint,
    is_error boolean,
    duration_ms bigint,
    class text COLLATE "C",
    PRIMARY KEY (root_id, run_no, seq, part)
) /* by root_id */;
CREATE INDEX tool_call_by_time ON tool_call (at DESC);

CREATE TABLE notice (
    root_id text COLLATE "C" NOT NULL,
    run_no bigint NOT NULL,
    seq bigint NOT NULL,
    step bigint NOT NULL,
    at bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    PRIMARY KEY (root_id, run_no, seq)
) /* by root_id */;
CREATE INDEX notice_by_time ON notice (at DESC);

CREATE TABLE unparsed (
    root_id text COLLATE "C" NOT NULL,
    run_no bigint NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    stream smallint NOT NULL,
    line bigint NOT NULL,
    tag text COLLATE "C",
    reason text COLLATE "C" NOT NULL,
    excerpt text COLLATE "C",
    PRIMARY KEY (root_id, run_no, seq)
) /* by root_id */;

-- The ledger: tokens, and where each number comes from.
CREATE TABLE usage (
    root_id text COLLATE "C" NOT NULL,
    run_no bigint NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    step bigint,
    model text COLLATE "C",
    input_tokens bigint,
    output_tokens bigint,
    reasoning_tokens bigint,
    cached_input_tokens bigint,
    -- Which of the input was written to a cache, and which of that for an hour.
    cache_write_tokens bigint,
    cache_write_1h_tokens bigint,
    -- Hash of session and key; null where no other run can report the same response.
    session_key bigint,
    -- The numbers are the total of the session so far.
    of_session boolean NOT NULL,
    PRIMARY KEY (root_id, run_no, seq)
) /* by root_id */;
CREATE INDEX usage_by_time ON usage (at, root_id, run_no);
CREATE INDEX usage_by_session_key ON usage (session_key, at) WHERE session_key IS NOT NULL;

-- What counts of sealed trees, added up by quarter of an hour (span 1) and by day (96). Each connection adds to rows of
-- its own share, so that writers do not wait for each other; a sum is that of all shares.
CREATE TABLE usage_sum (
    share integer NOT NULL,
    span bigint NOT NULL,
    start bigint NOT NULL,
    runtime text COLLATE "C" NOT NULL,
    model text COLLATE "C",
    kind bigint NOT NULL,
    runs bigint NOT NULL,
    costs bigint NOT NULL,
    cost bigint NOT NULL,
    input_tokens bigint NOT NULL,
    inputs bigint NOT NULL,
    output_tokens bigint NOT NULL,
    outputs bigint NOT NULL,
    reasoning_tokens bigint NOT NULL,
    reasonings bigint NOT NULL,
    cached_input_tokens bigint NOT NULL,
    cached_inputs bigint NOT NULL
) /* by share */;
CREATE UNIQUE INDEX usage_sum_place ON usage_sum
    (share, span, start, kind, md5(runtime), coalesce(md5(model), ''));

-- The words of stretches of records, each once. Where they are too many for a row, there are none: such a stretch is
-- looked at whatever is searched for.
CREATE TABLE search (
    root_id text COLLATE "C" NOT NULL,
    run_no bigint NOT NULL,
    first_seq bigint NOT NULL,
    words tsvector,
    PRIMARY KEY (root_id, run_no, first_seq)
) /* by root_id */;
CREATE INDEX search_words ON search USING gin (words) WITH (fastupdate = off);
CREATE INDEX search_without_words ON search (root_id) WHERE words IS NULL;

-- Who writes a tree, until when by this server's clock, and how often they wrote. Who takes it over raises the epoch, so
-- that one who was only asleep is refused.
CREATE TABLE lease (
    root_id text COLLATE "C" NOT NULL,
    epoch bigint NOT NULL,
    owner text NOT NULL,
    until timestamptz NOT NULL,
    writes bigint NOT NULL,
    note text,
    PRIMARY KEY (root_id)
) /* by root_id */;

-- The chains of seals. An entry is a seal over a tree, or says that one of the same chain was removed.
CREATE TABLE seal (
    chain integer NOT NULL,
    number bigint NOT NULL,
    at bigint NOT NULL,
    digest bytea NOT NULL,
    hash bytea NOT NULL,
    -- The run: kept here only once it is no longer found by its seal.
    run_id text COLLATE "C",
    removes bigint,
    reason text COLLATE "C",
    PRIMARY KEY (chain, number)
) /* by chain */;
CREATE INDEX seal_removed ON seal (chain, removes) WHERE removes IS NOT NULL;
CREATE INDEX seal_by_run ON seal (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX seal_by_hash ON seal (hash);

-- Where each chain ends.
CREATE TABLE chain_head (
    chain integer NOT NULL,
    number bigint NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (chain)
) /* by chain */;

-- One hash over the ends of all chains, and over the epoch before.
CREATE TABLE epoch (
    number bigint NOT NULL,
    at bigint NOT NULL,
    before bytea NOT NULL,
    -- Number and hash of each chain's end, one after the other.
    leaves bytea NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (number)
);
CREATE INDEX epoch_by_hash ON epoch (hash);

-- What this database is.
CREATE TABLE runtape (
    name text COLLATE "C" NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (name)
);
