-- What a run was about, and how long it took. The recorder's clock decides when a run began and ended
-- wherever it ran the process; what the runtime reported is kept beside it.
ALTER TABLE run ADD COLUMN reported_duration_ms INTEGER;
-- The first characters of what was asked; the records have all of it.
ALTER TABLE run ADD COLUMN prompt TEXT;
-- A list of texts in JSON.
ALTER TABLE run ADD COLUMN argv TEXT;
ALTER TABLE run ADD COLUMN permission_mode INTEGER REFERENCES word (key);
ALTER TABLE run ADD COLUMN host INTEGER REFERENCES word (key);
ALTER TABLE run ADD COLUMN user INTEGER REFERENCES word (key);
ALTER TABLE run ADD COLUMN exit_code INTEGER;
ALTER TABLE run ADD COLUMN signal INTEGER REFERENCES word (key);
ALTER TABLE run ADD COLUMN git_commit TEXT;
ALTER TABLE run ADD COLUMN git_branch INTEGER REFERENCES word (key);
-- An object of texts in JSON; NULL where there are none.
ALTER TABLE run ADD COLUMN labels TEXT;

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
    run.labels AS labels
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
LEFT JOIN word AS git_branch ON git_branch.key = run.git_branch;

-- Labels of root runs hold for the runs that they started.
CREATE VIEW v_labels AS
SELECT
    run.id AS run_id,
    job.id AS job_id,
    label.key AS label,
    label.value AS value
FROM run
JOIN run AS root ON root.key = coalesce(run.root, run.key)
JOIN json_each(root.labels) AS label
JOIN job ON job.key = run.job;
