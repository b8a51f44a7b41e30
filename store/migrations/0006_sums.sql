-- Two absurd token counts, taken in before counts were bounded, overflowed `sum` and with it every
-- question to these views. A sum that no column holds is now as large as can be; beyond 2^53 it is
-- not exact.
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
    CASE WHEN count(run.steps) > 0
        THEN CAST(min(max(total(run.steps), -9.2e18), 9.2e18) AS INTEGER) END AS steps,
    CASE WHEN count(run.input_tokens) > 0
        THEN CAST(min(max(total(run.input_tokens), -9.2e18), 9.2e18) AS INTEGER) END AS input_tokens,
    CASE WHEN count(run.output_tokens) > 0
        THEN CAST(min(max(total(run.output_tokens), -9.2e18), 9.2e18) AS INTEGER) END AS output_tokens,
    CASE WHEN count(run.reasoning_tokens) > 0
        THEN CAST(min(max(total(run.reasoning_tokens), -9.2e18), 9.2e18) AS INTEGER) END AS reasoning_tokens,
    CASE WHEN count(run.cached_input_tokens) > 0
        THEN CAST(min(max(total(run.cached_input_tokens), -9.2e18), 9.2e18) AS INTEGER) END AS cached_input_tokens,
    sum(run.cost_usd) AS cost_usd,
    strftime('%Y-%m-%dT%H:%M:%fZ', min(run.started_at) / 1000.0, 'unixepoch') AS started_at,
    CASE WHEN sum(run.status IS NULL) = 0
        THEN strftime('%Y-%m-%dT%H:%M:%fZ', max(run.finished_at) / 1000.0, 'unixepoch')
    END AS finished_at
FROM job
JOIN run ON run.job = job.key
GROUP BY job.key;

DROP VIEW v_usage_daily;
CREATE VIEW v_usage_daily AS
SELECT
    date(usage.at / 1000.0, 'unixepoch') AS day,
    runtime.text AS runtime,
    coalesce(model.text, run_model.text) AS model,
    count(DISTINCT coalesce(run.root, run.key)) AS runs,
    CASE WHEN count(usage.input_tokens) > 0
        THEN CAST(min(max(total(usage.input_tokens), -9.2e18), 9.2e18) AS INTEGER) END AS input_tokens,
    CASE WHEN count(usage.output_tokens) > 0
        THEN CAST(min(max(total(usage.output_tokens), -9.2e18), 9.2e18) AS INTEGER) END AS output_tokens,
    CASE WHEN count(usage.reasoning_tokens) > 0
        THEN CAST(min(max(total(usage.reasoning_tokens), -9.2e18), 9.2e18) AS INTEGER) END AS reasoning_tokens,
    CASE WHEN count(usage.cached_input_tokens) > 0
        THEN CAST(min(max(total(usage.cached_input_tokens), -9.2e18), 9.2e18) AS INTEGER) END AS cached_input_tokens
FROM usage
JOIN run ON run.key = usage.run
JOIN word AS runtime ON runtime.key = run.runtime
LEFT JOIN word AS model ON model.key = usage.model
LEFT JOIN word AS run_model ON run_model.key = run.model
WHERE NOT usage.repeated
GROUP BY 1, 2, 3;
