-- Which numbers count follows from the order of the runs of a session, and is found out on reading: no
-- run changes the rows of another, and it does not matter in which order runs are stored.
--
-- An entry that an earlier run of the session reported, too, does not count. A total of a whole
-- session counts what it holds beyond the last total that an earlier run of the session stated.
-- Earlier is what began earlier; of two that began at once, the one whose id comes first.
DROP VIEW v_usage_daily;
DROP VIEW v_runs;
DROP VIEW v_jobs;

ALTER TABLE usage DROP COLUMN repeated;
-- The numbers are the total of the session so far.
ALTER TABLE usage ADD COLUMN of_session INTEGER NOT NULL DEFAULT 0;

-- The runs of a session in their order.
DROP INDEX run_by_session;
CREATE INDEX run_by_session ON run (session, started_at, id) WHERE session IS NOT NULL;

-- Lists go by time and id: a key means nothing outside of this file.
DROP INDEX run_by_start;
CREATE INDEX run_by_start ON run (started_at, id);

CREATE VIEW v_usage AS
SELECT
    run.id AS run_id,
    job.id AS job_id,
    root.id AS root_run_id,
    runtime.text AS runtime,
    usage.seq AS seq,
    strftime('%Y-%m-%dT%H:%M:%fZ', usage.at / 1000.0, 'unixepoch') AS at,
    usage.at AS at_ms,
    usage.key AS key,
    CASE WHEN usage.of_session AND EXISTS (
        SELECT 1 FROM run AS earlier_run JOIN usage AS earlier ON earlier.run = earlier_run.key
        WHERE earlier_run.session = run.session AND (earlier.of_session OR earlier.key = 'total')
            AND (earlier_run.started_at, earlier_run.id, earlier.seq) < (run.started_at, run.id, usage.seq)
    ) THEN 'remainder' ELSE source.text END AS source,
    usage.step AS step,
    coalesce(model.text, run_model.text) AS model,
    model.text AS entry_model,
    CASE WHEN usage.of_session AND usage.input_tokens IS NOT NULL
        THEN max(usage.input_tokens - coalesce((
        SELECT earlier.input_tokens FROM run AS earlier_run JOIN usage AS earlier ON earlier.run = earlier_run.key
        WHERE earlier_run.session = run.session AND (earlier.of_session OR earlier.key = 'total')
            AND (earlier_run.started_at, earlier_run.id, earlier.seq) < (run.started_at, run.id, usage.seq)
        ORDER BY earlier_run.started_at DESC, earlier_run.id DESC, earlier.seq DESC LIMIT 1
    ), 0), 0)
        ELSE usage.input_tokens
    END AS input_tokens,
    CASE WHEN usage.of_session AND usage.output_tokens IS NOT NULL
        THEN max(usage.output_tokens - coalesce((
        SELECT earlier.output_tokens FROM run AS earlier_run JOIN usage AS earlier ON earlier.run = earlier_run.key
        WHERE earlier_run.session = run.session AND (earlier.of_session OR earlier.key = 'total')
            AND (earlier_run.started_at, earlier_run.id, earlier.seq) < (run.started_at, run.id, usage.seq)
        ORDER BY earlier_run.started_at DESC, earlier_run.id DESC, earlier.seq DESC LIMIT 1
    ), 0), 0)
        ELSE usage.output_tokens
    END AS output_tokens,
    CASE WHEN usage.of_session AND usage.reasoning_tokens IS NOT NULL
        THEN max(usage.reasoning_tokens - coalesce((
        SELECT earlier.reasoning_tokens FROM run AS earlier_run JOIN usage AS earlier ON earlier.run = earlier_run.key
        WHERE earlier_run.session = run.session AND (earlier.of_session OR earlier.key = 'total')
            AND (earlier_run.started_at, earlier_run.id, earlier.seq) < (run.started_at, run.id, usage.seq)
        ORDER BY earlier_run.started_at DESC, earlier_run.id DESC, earlier.seq DESC LIMIT 1
    ), 0), 0)
        ELSE usage.reasoning_tokens
    END AS reasoning_tokens,
    CASE WHEN usage.of_session AND usage.cached_input_tokens IS NOT NULL
        THEN max(usage.cached_input_tokens - coalesce((
        SELECT earlier.cached_input_tokens FROM run AS earlier_run JOIN usage AS earlier ON earlier.run = earlier_run.key
        WHERE earlier_run.session = run.session AND (earlier.of_session OR earlier.key = 'total')
            AND (earlier_run.started_at, earlier_run.id, earlier.seq) < (run.started_at, run.id, usage.seq)
        ORDER BY earlier_run.started_at DESC, earlier_run.id DESC, earlier.seq DESC LIMIT 1
    ), 0), 0)
        ELSE usage.cached_input_tokens
    END AS cached_input_tokens,
    usage.session_key IS NOT NULL AND EXISTS (
        -- Crossed, so that it is the response that is looked up, and not every run of the session.
        SELECT 1 FROM usage AS earlier CROSS JOIN run AS earlier_run ON earlier_run.key = earlier.run
        WHERE earlier.session_key = usage.session_key AND earlier.key = usage.key
            AND earlier_run.session = run.session
            AND (earlier_run.started_at, earlier_run.id) < (run.started_at, run.id)
            AND coalesce(earlier_run.root, earlier_run.key) <> coalesce(run.root, run.key)
            AND earlier.input_tokens IS usage.input_tokens
            AND earlier.output_tokens IS usage.output_tokens
            AND earlier.reasoning_tokens IS usage.reasoning_tokens
            AND earlier.cached_input_tokens IS usage.cached_input_tokens
    ) AS is_repeated,
    usage.of_session AND NOT EXISTS (
        SELECT 1 FROM run AS earlier_run JOIN usage AS earlier ON earlier.run = earlier_run.key
        WHERE earlier_run.session = run.session AND (earlier.of_session OR earlier.key = 'total')
            AND (earlier_run.started_at, earlier_run.id, earlier.seq) < (run.started_at, run.id, usage.seq)
    ) AS of_session
FROM usage
JOIN run ON run.key = usage.run
JOIN job ON job.key = run.job
JOIN word AS runtime ON runtime.key = run.runtime
JOIN word AS source ON source.key = usage.source
LEFT JOIN run AS root ON root.key = run.root
LEFT JOIN word AS model ON model.key = usage.model
LEFT JOIN word AS run_model ON run_model.key = run.model;

CREATE VIEW v_usage_daily AS
SELECT
    substr(entry.at, 1, 10) AS day,
    entry.runtime AS runtime,
    entry.model AS model,
    count(DISTINCT coalesce(entry.root_run_id, entry.run_id)) AS runs,
    CASE WHEN count(entry.input_tokens) > 0
        THEN CAST(min(max(total(entry.input_tokens), -9.2e18), 9.2e18) AS INTEGER) END AS input_tokens,
    CASE WHEN count(entry.output_tokens) > 0
        THEN CAST(min(max(total(entry.output_tokens), -9.2e18), 9.2e18) AS INTEGER) END AS output_tokens,
    CASE WHEN count(entry.reasoning_tokens) > 0
        THEN CAST(min(max(total(entry.reasoning_tokens), -9.2e18), 9.2e18) AS INTEGER) END AS reasoning_tokens,
    CASE WHEN count(entry.cached_input_tokens) > 0
        THEN CAST(min(max(total(entry.cached_input_tokens), -9.2e18), 9.2e18) AS INTEGER) END AS cached_input_tokens
FROM v_usage AS entry
WHERE NOT entry.is_repeated
GROUP BY 1, 2, 3;

-- The columns of a run hold what its own records say. Only where the session has other runs is there
-- anything to find out.
CREATE VIEW v_runs AS
SELECT
    run.id AS run_id,
    job.id AS job_id,
    root.id AS root_run_id,
    parent.id AS parent_run_id,
    runtime.text AS runtime,
    coalesce(status.text, 'proceeding') AS status,
    expert.text AS expert,
    model.text AS model,
    session.text AS session_id,
    cwd.text AS cwd,
    cli_version.text AS cli_version,
    strftime('%Y-%m-%dT%H:%M:%fZ', run.started_at / 1000.0, 'unixepoch') AS started_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', run.finished_at / 1000.0, 'unixepoch') AS finished_at,
    run.started_at AS started_ms,
    run.finished_at AS finished_ms,
    run.duration_ms AS duration_ms,
    run.steps AS steps,
    run.messages AS messages,
    run.records AS records,
    run.unparsed AS unparsed,
    CASE
        WHEN run.session IS NULL OR run.input_tokens IS NULL OR NOT EXISTS (
            SELECT 1 FROM run AS other WHERE other.session = run.session AND other.key <> run.key
        ) THEN run.input_tokens
        ELSE (
            SELECT CAST(min(max(total(entry.input_tokens), -9.2e18), 9.2e18) AS INTEGER)
            FROM v_usage AS entry WHERE entry.run_id = run.id AND NOT entry.is_repeated
        )
    END AS input_tokens,
    CASE
        WHEN run.session IS NULL OR run.output_tokens IS NULL OR NOT EXISTS (
            SELECT 1 FROM run AS other WHERE other.session = run.session AND other.key <> run.key
        ) THEN run.output_tokens
        ELSE (
            SELECT CAST(min(max(total(entry.output_tokens), -9.2e18), 9.2e18) AS INTEGER)
            FROM v_usage AS entry WHERE entry.run_id = run.id AND NOT entry.is_repeated
        )
    END AS output_tokens,
    CASE
        WHEN run.session IS NULL OR run.reasoning_tokens IS NULL OR NOT EXISTS (
            SELECT 1 FROM run AS other WHERE other.session = run.session AND other.key <> run.key
        ) THEN run.reasoning_tokens
        ELSE (
            SELECT CAST(min(max(total(entry.reasoning_tokens), -9.2e18), 9.2e18) AS INTEGER)
            FROM v_usage AS entry WHERE entry.run_id = run.id AND NOT entry.is_repeated
        )
    END AS reasoning_tokens,
    CASE
        WHEN run.session IS NULL OR run.cached_input_tokens IS NULL OR NOT EXISTS (
            SELECT 1 FROM run AS other WHERE other.session = run.session AND other.key <> run.key
        ) THEN run.cached_input_tokens
        ELSE (
            SELECT CAST(min(max(total(entry.cached_input_tokens), -9.2e18), 9.2e18) AS INTEGER)
            FROM v_usage AS entry WHERE entry.run_id = run.id AND NOT entry.is_repeated
        )
    END AS cached_input_tokens,
    run.cost_usd AS cost_usd,
    error_name.text AS error_name,
    error_family.text AS error_family,
    run.error_message AS error_message,
    run.seal AS seal
FROM run
JOIN job ON job.key = run.job
JOIN word AS runtime ON runtime.key = run.runtime
LEFT JOIN run AS root ON root.key = run.root
LEFT JOIN run AS parent ON parent.key = run.parent
LEFT JOIN word AS status ON status.key = run.status
LEFT JOIN word AS expert ON expert.key = run.expert
LEFT JOIN word AS model ON model.key = run.model
LEFT JOIN word AS session ON session.key = run.session
LEFT JOIN word AS cwd ON cwd.key = run.cwd
LEFT JOIN word AS cli_version ON cli_version.key = run.cli_version
LEFT JOIN word AS error_name ON error_name.key = run.error_name
LEFT JOIN word AS error_family ON error_family.key = run.error_family;

CREATE VIEW v_jobs AS
SELECT
    job.id AS job_id,
    CASE
        WHEN sum(run.status IS NULL) > 0 THEN 'running'
        ELSE coalesce((
            SELECT CASE word.text
                WHEN 'stoppedByExceededMaxSteps' THEN 'stoppedByMaxSteps'
                WHEN 'stoppedByDelegate' THEN 'running'
                ELSE word.text
            END
            FROM run AS latest JOIN word ON word.key = latest.status
            WHERE latest.job = job.key AND latest.root IS NULL
            ORDER BY latest.started_at DESC, latest.id DESC LIMIT 1
        ), 'running')
    END AS status,
    (
        SELECT word.text FROM run AS first JOIN word ON word.key = coalesce(first.expert, first.runtime)
        WHERE first.job = job.key AND first.root IS NULL
        ORDER BY first.started_at, first.id LIMIT 1
    ) AS expert,
    sum(run.root IS NULL) AS root_runs,
    count(*) AS runs,
    CASE WHEN count(run.steps) > 0
        THEN CAST(min(max(total(run.steps), -9.2e18), 9.2e18) AS INTEGER) END AS steps,
    CASE WHEN count(run.input_tokens) > 0
        THEN CAST(min(max(total(CASE
            WHEN run.session IS NULL OR run.input_tokens IS NULL OR NOT EXISTS (
                SELECT 1 FROM run AS other WHERE other.session = run.session AND other.key <> run.key
            ) THEN run.input_tokens
            ELSE (
                SELECT CAST(min(max(total(entry.input_tokens), -9.2e18), 9.2e18) AS INTEGER)
                FROM v_usage AS entry WHERE entry.run_id = run.id AND NOT entry.is_repeated
            )
        END), -9.2e18), 9.2e18) AS INTEGER) END AS input_tokens,
    CASE WHEN count(run.output_tokens) > 0
        THEN CAST(min(max(total(CASE
            WHEN run.session IS NULL OR run.output_tokens IS NULL OR NOT EXISTS (
                SELECT 1 FROM run AS other WHERE other.session = run.session AND other.key <> run.key
            ) THEN run.output_tokens
            ELSE (
                SELECT CAST(min(max(total(entry.output_tokens), -9.2e18), 9.2e18) AS INTEGER)
                FROM v_usage AS entry WHERE entry.run_id = run.id AND NOT entry.is_repeated
            )
        END), -9.2e18), 9.2e18) AS INTEGER) END AS output_tokens,
    CASE WHEN count(run.reasoning_tokens) > 0
        THEN CAST(min(max(total(CASE
            WHEN run.session IS NULL OR run.reasoning_tokens IS NULL OR NOT EXISTS (
                SELECT 1 FROM run AS other WHERE other.session = run.session AND other.key <> run.key
            ) THEN run.reasoning_tokens
            ELSE (
                SELECT CAST(min(max(total(entry.reasoning_tokens), -9.2e18), 9.2e18) AS INTEGER)
                FROM v_usage AS entry WHERE entry.run_id = run.id AND NOT entry.is_repeated
            )
        END), -9.2e18), 9.2e18) AS INTEGER) END AS reasoning_tokens,
    CASE WHEN count(run.cached_input_tokens) > 0
        THEN CAST(min(max(total(CASE
            WHEN run.session IS NULL OR run.cached_input_tokens IS NULL OR NOT EXISTS (
                SELECT 1 FROM run AS other WHERE other.session = run.session AND other.key <> run.key
            ) THEN run.cached_input_tokens
            ELSE (
                SELECT CAST(min(max(total(entry.cached_input_tokens), -9.2e18), 9.2e18) AS INTEGER)
                FROM v_usage AS entry WHERE entry.run_id = run.id AND NOT entry.is_repeated
            )
        END), -9.2e18), 9.2e18) AS INTEGER) END AS cached_input_tokens,
    sum(run.cost_usd) AS cost_usd,
    strftime('%Y-%m-%dT%H:%M:%fZ', min(run.started_at) / 1000.0, 'unixepoch') AS started_at,
    CASE WHEN sum(run.status IS NULL) = 0
        THEN strftime('%Y-%m-%dT%H:%M:%fZ', max(run.finished_at) / 1000.0, 'unixepoch')
    END AS finished_at
FROM job
JOIN run ON run.job = job.key
GROUP BY job.key;
