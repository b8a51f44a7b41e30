-- How a run went, in one word: running, completed, failed, limit, interrupted or unfinished. It follows from its records.
ALTER TABLE run ADD COLUMN outcome INTEGER REFERENCES word (key);
-- What the agent CLI calls the session.
ALTER TABLE run ADD COLUMN session_title TEXT;

DROP VIEW v_runs;
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
    run.seal AS seal,
    run.reported_duration_ms AS reported_duration_ms,
    run.prompt AS prompt,
    run.argv AS argv,
    permission_mode.text AS permission_mode,
    host.text AS host,
    user.text AS user,
    run.exit_code AS exit_code,
    signal.text AS signal,
    run.git_commit AS git_commit,
    git_branch.text AS git_branch,
    run.labels AS labels,
    outcome.text AS outcome,
    run.session_title AS session_title
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
LEFT JOIN word AS error_family ON error_family.key = run.error_family
LEFT JOIN word AS permission_mode ON permission_mode.key = run.permission_mode
LEFT JOIN word AS host ON host.key = run.host
LEFT JOIN word AS user ON user.key = run.user
LEFT JOIN word AS signal ON signal.key = run.signal
LEFT JOIN word AS git_branch ON git_branch.key = run.git_branch
LEFT JOIN word AS outcome ON outcome.key = run.outcome;

DROP VIEW v_jobs;
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
    END AS finished_at,
    CASE
        WHEN sum(run.status IS NULL) > 0 THEN 'running'
        ELSE (
            SELECT word.text FROM run AS latest JOIN word ON word.key = latest.outcome
            WHERE latest.job = job.key AND latest.root IS NULL
            ORDER BY latest.started_at DESC, latest.id DESC LIMIT 1
        )
    END AS outcome
FROM job
JOIN run ON run.job = job.key
GROUP BY job.key;

-- A run that stops without proof of an end did not fail.
DROP VIEW v_errors;
CREATE VIEW v_errors AS
SELECT
    run.id AS run_id,
    job.id AS job_id,
    runtime.text AS runtime,
    strftime('%Y-%m-%dT%H:%M:%fZ', run.finished_at / 1000.0, 'unixepoch') AS at,
    status.text AS status,
    name.text AS name,
    family.text AS family,
    run.error_message AS message,
    run.error_status AS status_code,
    run.error_retryable AS is_retryable,
    strftime('%Y-%m-%dT%H:%M:%fZ', run.error_retry_at / 1000.0, 'unixepoch') AS retry_at,
    outcome.text AS outcome
FROM run
JOIN job ON job.key = run.job
JOIN word AS runtime ON runtime.key = run.runtime
JOIN word AS status ON status.key = run.status
JOIN word AS name ON name.key = run.error_name
JOIN word AS outcome ON outcome.key = run.outcome AND outcome.text <> 'unfinished'
LEFT JOIN word AS family ON family.key = run.error_family;
