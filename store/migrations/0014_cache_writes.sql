-- What was written to a cache was priced like any other input. The ledger says from here on which part of the input it
-- is, and which part of that was written for an hour. Records from before do not say it.
ALTER TABLE usage ADD COLUMN cache_write_tokens INTEGER;
ALTER TABLE usage ADD COLUMN cache_write_1h_tokens INTEGER;

-- As before, with both columns: of a total of a session it is not known which part of them is this run's.
DROP VIEW v_usage;
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
    ) AS of_session,
    CASE WHEN usage.of_session THEN NULL ELSE usage.cache_write_tokens END AS cache_write_tokens,
    CASE WHEN usage.of_session THEN NULL ELSE usage.cache_write_1h_tokens END AS cache_write_1h_tokens
FROM usage
JOIN run ON run.key = usage.run
JOIN job ON job.key = run.job
JOIN word AS runtime ON runtime.key = run.runtime
JOIN word AS source ON source.key = usage.source
LEFT JOIN run AS root ON root.key = run.root
LEFT JOIN word AS model ON model.key = usage.model
LEFT JOIN word AS run_model ON run_model.key = run.model;
