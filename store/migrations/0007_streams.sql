-- A tape has named streams: what was given to a process, and the session file that a runtime writes
-- beside its output, lie next to what the process printed. Blocks from before have none of either.
ALTER TABLE tape_block ADD COLUMN stdin_start INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tape_block ADD COLUMN stdin_length INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tape_block ADD COLUMN history_start INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tape_block ADD COLUMN history_length INTEGER NOT NULL DEFAULT 0;

DROP VIEW v_unparsed;
CREATE VIEW v_unparsed AS
SELECT
    run.id AS run_id,
    job.id AS job_id,
    runtime.text AS runtime,
    cli_version.text AS cli_version,
    unparsed.seq AS seq,
    strftime('%Y-%m-%dT%H:%M:%fZ', unparsed.at / 1000.0, 'unixepoch') AS at,
    CASE unparsed.stream
        WHEN 0 THEN 'stdout' WHEN 1 THEN 'stderr' WHEN 2 THEN 'stdin' WHEN 3 THEN 'history'
    END AS stream,
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
