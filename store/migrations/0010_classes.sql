-- Each call has a class (shell, read, write, …), by which an auditor asks for commands, written files
-- and fetches whatever a runtime calls its tools. Calls from before have none: their records do not
-- say, and `renormalize` makes records that do.
ALTER TABLE tool_call ADD COLUMN class INTEGER REFERENCES word (key);

DROP VIEW v_tool_calls;
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
    tool_call.result_seq AS result_seq,
    class.text AS class,
    cwd.text AS cwd
FROM tool_call
JOIN run ON run.key = tool_call.run
JOIN job ON job.key = run.job
JOIN word AS runtime ON runtime.key = run.runtime
JOIN word AS tool ON tool.key = tool_call.tool
LEFT JOIN word AS class ON class.key = tool_call.class
LEFT JOIN word AS cwd ON cwd.key = run.cwd;

DROP VIEW v_files;
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
    tool_call.is_error AS is_error,
    class.text AS class,
    cwd.text AS cwd
FROM tool_call
JOIN json_each(tool_call.paths) AS path
JOIN run ON run.key = tool_call.run
JOIN job ON job.key = run.job
JOIN word AS runtime ON runtime.key = run.runtime
JOIN word AS tool ON tool.key = tool_call.tool
LEFT JOIN word AS class ON class.key = tool_call.class
LEFT JOIN word AS cwd ON cwd.key = run.cwd;
