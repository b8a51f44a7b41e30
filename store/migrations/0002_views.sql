-- Audit views: the stable face of the tables for any SQLite client. VIEWS.md documents them.

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
    run.input_tokens AS input_tokens,
    run.output_tokens AS output_tokens,
    run.reasoning_tokens AS reasoning_tokens,
    run.cached_input_tokens AS cached_input_tokens,
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
            ORDER BY latest.started_at DESC, latest.key DESC LIMIT 1
        ), 'running')
    END AS status,
    (
        SELECT word.text FROM run AS first JOIN word ON word.key = coalesce(first.expert, first.runtime)
        WHERE first.job = job.key AND first.root IS NULL
        ORDER BY first.started_at, first.key LIMIT 1
    ) AS expert,
    sum(run.root IS NULL) AS root_runs,
    count(*) AS runs,
    sum(run.steps) AS steps,
    sum(run.input_tokens) AS input_tokens,
    sum(run.output_tokens) AS output_tokens,
    sum(run.reasoning_tokens) AS reasoning_tokens,
    sum(run.cached_input_tokens) AS cached_input_tokens,
    sum(run.cost_usd) AS cost_usd,
    strftime('%Y-%m-%dT%H:%M:%fZ', min(run.started_at) / 1000.0, 'unixepoch') AS started_at,
    CASE WHEN sum(run.status IS NULL) = 0
        THEN strftime('%Y-%m-%dT%H:%M:%fZ', max(run.finished_at) / 1000.0, 'unixepoch')
    END AS finished_at
FROM job
JOIN run ON run.job = job.key
GROUP BY job.key;

CREATE VIEW v_steps AS
SELECT
    run.id AS run_id,
    job.id AS job_id,
    runtime.text AS runtime,
    step.step AS step,
    status.text AS status,
    strftime('%Y-%m-%dT%H:%M:%fZ', step.started_at / 1000.0, 'unixepoch') AS started_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', step.finished_at / 1000.0, 'unixepoch') AS finished_at,
    step.finished_at - step.started_at AS elapsed_ms,
    step.tool_calls AS tool_calls,
    step.input_tokens AS input_tokens,
    step.output_tokens AS output_tokens,
    step.reasoning_tokens AS reasoning_tokens,
    step.cached_input_tokens AS cached_input_tokens
FROM step
JOIN run ON run.key = step.run
JOIN job ON job.key = run.job
JOIN word AS runtime ON runtime.key = run.runtime
JOIN word AS status ON status.key = step.status;

CREATE VIEW v_checkpoints AS
SELECT
    step.checkpoint_id AS checkpoint_id,
    run.id AS run_id,
    job.id AS job_id,
    step.step AS step,
    step.seq AS seq,
    status.text AS status,
    step.messages AS messages,
    step.pending AS pending_tool_calls,
    strftime('%Y-%m-%dT%H:%M:%fZ', step.finished_at / 1000.0, 'unixepoch') AS at
FROM step
JOIN run ON run.key = step.run
JOIN job ON job.key = run.job
JOIN word AS status ON status.key = step.status;

CREATE VIEW v_tool_calls AS
SELECT
    run.id AS run_id,
    job.id AS job_id,
    runtime.text AS runtime,
    tool_call.step AS step,
    tool_call.seq AS seq,
    tool_call.part AS part,
    strftime('%Y-%m-%dT%H:%M:%fZ', tool_call.at / 1000.0, 'unixepoch') AS at,
    tool.text AS tool,
    tool_call.command AS command,
    json_extract(tool_call.paths, '$[0]') AS path,
    tool_call.url AS url,
    tool_call.is_error AS is_error,
    tool_call.duration_ms AS duration_ms,
    tool_call.result_seq AS result_seq
FROM tool_call
JOIN run ON run.key = tool_call.run
JOIN job ON job.key = run.job
JOIN word AS runtime ON runtime.key = run.runtime
JOIN word AS tool ON tool.key = tool_call.tool;

CREATE VIEW v_files AS
SELECT
    path.value AS path,
    tool.text AS tool,
    run.id AS run_id,
    job.id AS job_id,
    runtime.text AS runtime,
    tool_call.step AS step,
    tool_call.seq AS seq,
    strftime('%Y-%m-%dT%H:%M:%fZ', tool_call.at / 1000.0, 'unixepoch') AS at,
    tool_call.is_error AS is_error
FROM tool_call
JOIN json_each(tool_call.paths) AS path
JOIN run ON run.key = tool_call.run
JOIN job ON job.key = run.job
JOIN word AS runtime ON runtime.key = run.runtime
JOIN word AS tool ON tool.key = tool_call.tool;

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
    strftime('%Y-%m-%dT%H:%M:%fZ', run.error_retry_at / 1000.0, 'unixepoch') AS retry_at
FROM run
JOIN job ON job.key = run.job
JOIN word AS runtime ON runtime.key = run.runtime
JOIN word AS status ON status.key = run.status
JOIN word AS name ON name.key = run.error_name
LEFT JOIN word AS family ON family.key = run.error_family;

CREATE VIEW v_usage_daily AS
SELECT
    date(usage.at / 1000.0, 'unixepoch') AS day,
    runtime.text AS runtime,
    coalesce(model.text, run_model.text) AS model,
    count(DISTINCT coalesce(run.root, run.key)) AS runs,
    sum(usage.input_tokens) AS input_tokens,
    sum(usage.output_tokens) AS output_tokens,
    sum(usage.reasoning_tokens) AS reasoning_tokens,
    sum(usage.cached_input_tokens) AS cached_input_tokens
FROM usage
JOIN run ON run.key = usage.run
JOIN word AS runtime ON runtime.key = run.runtime
LEFT JOIN word AS model ON model.key = usage.model
LEFT JOIN word AS run_model ON run_model.key = run.model
WHERE NOT usage.repeated
GROUP BY 1, 2, 3;

CREATE VIEW v_notices AS
SELECT
    run.id AS run_id,
    job.id AS job_id,
    runtime.text AS runtime,
    notice.step AS step,
    notice.seq AS seq,
    strftime('%Y-%m-%dT%H:%M:%fZ', notice.at / 1000.0, 'unixepoch') AS at,
    kind.text AS kind,
    notice.text AS text
FROM notice
JOIN run ON run.key = notice.run
JOIN job ON job.key = run.job
JOIN word AS runtime ON runtime.key = run.runtime
JOIN word AS kind ON kind.key = notice.kind;

CREATE VIEW v_unparsed AS
SELECT
    run.id AS run_id,
    job.id AS job_id,
    runtime.text AS runtime,
    cli_version.text AS cli_version,
    unparsed.seq AS seq,
    strftime('%Y-%m-%dT%H:%M:%fZ', unparsed.at / 1000.0, 'unixepoch') AS at,
    CASE unparsed.stream WHEN 0 THEN 'stdout' ELSE 'stderr' END AS stream,
    unparsed.line AS line,
    tag.text AS tag,
    unparsed.reason AS reason,
    unparsed.excerpt AS excerpt
FROM unparsed
JOIN run ON run.key = unparsed.run
JOIN job ON job.key = run.job
JOIN word AS runtime ON runtime.key = run.runtime
LEFT JOIN word AS tag ON tag.key = unparsed.tag
LEFT JOIN word AS cli_version ON cli_version.key = run.cli_version;
