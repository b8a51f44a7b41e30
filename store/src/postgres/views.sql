
-- Audit views: the stable face of the tables for any client. VIEWS.md documents them, and what differs from those of a
-- database file. The functions are part of them: none fails, whatever stands in a column. Those in SQL are written without
-- quotes, so that the names in them mean what they mean here, whoever asks.

-- The sum of a column, bounded to what a column holds: one absurd number must not fail a whole query.
CREATE FUNCTION runtape_sum(total numeric) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN total IS NOT NULL
        THEN least(greatest(total, -9200000000000000000), 9200000000000000000)::bigint END;

-- A cost in thousand millionths of a dollar: whole numbers, whose sums are the same in any order. Halves are rounded away
-- from nothing.
CREATE FUNCTION runtape_nanodollars(cost double precision) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN abs(cost) < 4000000 THEN trunc(cost * 1e9 + sign(cost) * 0.5)::bigint
        WHEN cost IS NOT NULL THEN (least(greatest(cost, -1e9), 1e9) * 1e9)::bigint
    END;

-- What is beyond a number; nothing if it is not.
CREATE FUNCTION runtape_beyond(total bigint, before bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN total IS NOT NULL
        THEN least(greatest(total::numeric - coalesce(before, 0), 0), 9200000000000000000)::bigint END;

-- A time in milliseconds since 1970 as a timestamp in UTC. Whole days and the rest are added apart, and nothing is rounded.
CREATE FUNCTION runtape_timestamp(ms bigint) RETURNS timestamp LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN date '1970-01-01' + ((ms - (ms % 86400000 + 86400000) % 86400000) / 86400000)::integer
        + (ms % 86400000 + 86400000) % 86400000 * interval '1 millisecond';

-- The same as text; NULL before the year -4713 and after 9999. There is a year 0, which the server calls 1 BC.
CREATE FUNCTION runtape_time(ms bigint) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE
        WHEN ms BETWEEN -62135596800000 AND 253402300799999
            THEN to_char(runtape_timestamp(ms), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        WHEN ms BETWEEN -62167219200000 AND -62135596800001
            THEN '0000' || to_char(runtape_timestamp(ms), '-MM-DD"T"HH24:MI:SS.MS"Z"')
        WHEN ms BETWEEN -210866760000000 AND -62167219200001
            THEN to_char(1 + extract(year FROM runtape_timestamp(ms)), 'FMS9000')
                || to_char(runtape_timestamp(ms), '-MM-DD"T"HH24:MI:SS.MS"Z"')
    END;

-- The texts of a list in JSON; none if it is no list. What a text of the server cannot have is written as it is kept.
CREATE FUNCTION runtape_texts(list text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN ARRAY(SELECT json_array_elements_text(
        regexp_replace(list, '(?<!\\)((?:\\\\)*)\\u0000', E'\\1\uFDD00', 'g')::json
    ));
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN NULL;
END
$$;

-- The texts of an object in JSON by their names; none if it is no object.
CREATE FUNCTION runtape_labels(labels text) RETURNS TABLE (label text, value text) LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN QUERY SELECT pair.key, pair.value FROM json_each_text(
        regexp_replace(labels, '(?<!\\)((?:\\\\)*)\\u0000', E'\\1\uFDD00', 'g')::json
    ) AS pair;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN;
END
$$;

-- The ledger with what counts of it. Which numbers count follows from the order of the runs of a session: an entry that
-- an earlier run of the session reported, too, does not, and a total of a whole session counts what it holds beyond the
-- last total that was stated before. Earlier is what began earlier; of two that began at once, the one whose id comes
-- first. A session may have many runs, and a response many entries: they are read in the order of their index, and only as
-- far as need be. What else must be true of them is asked as a number that is not 0, from which the server does not conclude
-- that there are hardly any, and that it might as well read all.
CREATE VIEW counted_usage AS
SELECT
    usage.root_id,
    usage.run_no,
    run.run_id,
    run.job_id,
    run.runtime,
    usage.seq,
    usage.at,
    usage.key,
    CASE WHEN before.seq IS NOT NULL THEN 'remainder' ELSE usage.source END AS source,
    usage.step,
    coalesce(usage.model, run.model) AS model,
    usage.model AS entry_model,
    CASE WHEN usage.of_session THEN runtape_beyond(usage.input_tokens, before.input_tokens)
        ELSE usage.input_tokens END AS input_tokens,
    CASE WHEN usage.of_session THEN runtape_beyond(usage.output_tokens, before.output_tokens)
        ELSE usage.output_tokens END AS output_tokens,
    CASE WHEN usage.of_session THEN runtape_beyond(usage.reasoning_tokens, before.reasoning_tokens)
        ELSE usage.reasoning_tokens END AS reasoning_tokens,
    CASE WHEN usage.of_session THEN runtape_beyond(usage.cached_input_tokens, before.cached_input_tokens)
        ELSE usage.cached_input_tokens END AS cached_input_tokens,
    usage.session_key IS NOT NULL AND (
        SELECT 1 FROM usage AS earlier
        WHERE earlier.session_key = usage.session_key AND coalesce(
            earlier.key = usage.key AND earlier.root_id <> usage.root_id
            AND earlier.input_tokens IS NOT DISTINCT FROM usage.input_tokens
            AND earlier.output_tokens IS NOT DISTINCT FROM usage.output_tokens
            AND earlier.reasoning_tokens IS NOT DISTINCT FROM usage.reasoning_tokens
            AND earlier.cached_input_tokens IS NOT DISTINCT FROM usage.cached_input_tokens
            AND (
                SELECT earlier_run.session = run.session
                    AND (earlier_run.started_at, earlier_run.run_id) < (run.started_at, run.run_id)
                FROM run AS earlier_run
                WHERE earlier_run.root_id = earlier.root_id AND earlier_run.run_no = earlier.run_no
            ), false)::integer <> 0
        ORDER BY earlier.at LIMIT 1
    ) IS NOT NULL AS is_repeated,
    usage.of_session AND before.seq IS NULL AS of_session,
    -- Of a total of a session it is not known which part of them is this run's.
    CASE WHEN NOT usage.of_session THEN usage.cache_write_tokens END AS cache_write_tokens,
    CASE WHEN NOT usage.of_session THEN usage.cache_write_1h_tokens END AS cache_write_1h_tokens
FROM usage
JOIN run ON run.root_id = usage.root_id AND run.run_no = usage.run_no
LEFT JOIN LATERAL (
    SELECT earlier.*
    FROM run AS earlier_run
    CROSS JOIN LATERAL (
        SELECT last.seq, last.input_tokens, last.output_tokens, last.reasoning_tokens, last.cached_input_tokens
        FROM usage AS last
        WHERE last.root_id = earlier_run.root_id AND last.run_no = earlier_run.run_no AND (
            (last.of_session OR last.key = 'total') AND
            (earlier_run.started_at, earlier_run.run_id, last.seq) < (run.started_at, run.run_id, usage.seq)
        )::integer <> 0
        ORDER BY last.seq DESC LIMIT 1
    ) AS earlier
    WHERE usage.of_session
        AND md5(earlier_run.session) = md5(run.session) AND (earlier_run.session = run.session)::integer <> 0
        AND (earlier_run.started_at, earlier_run.run_id) <= (run.started_at, run.run_id)
    ORDER BY earlier_run.started_at DESC, earlier_run.run_id DESC LIMIT 1
) AS before ON true;

CREATE VIEW v_usage AS
SELECT
    run_id,
    job_id,
    CASE WHEN run_no <> 0 THEN root_id END AS root_run_id,
    runtime,
    seq,
    runtape_time(at) COLLATE "C" AS at,
    at AS at_ms,
    key,
    source,
    step,
    model,
    entry_model,
    input_tokens,
    output_tokens,
    reasoning_tokens,
    cached_input_tokens,
    is_repeated::integer AS is_repeated,
    of_session::integer AS of_session,
    cache_write_tokens,
    cache_write_1h_tokens
FROM counted_usage;

CREATE VIEW v_usage_daily AS
SELECT
    substr(runtape_time(at), 1, 10) COLLATE "C" AS day,
    runtime,
    model,
    count(DISTINCT root_id) AS runs,
    runtape_sum(sum(input_tokens)) AS input_tokens,
    runtape_sum(sum(output_tokens)) AS output_tokens,
    runtape_sum(sum(reasoning_tokens)) AS reasoning_tokens,
    runtape_sum(sum(cached_input_tokens)) AS cached_input_tokens
FROM counted_usage
WHERE NOT is_repeated
GROUP BY 1, 2, 3;

-- What counts of each run. The columns of a run hold what its own records say: only where the session has other runs is
-- there anything to find out.
CREATE VIEW counted_run AS
SELECT
    run.root_id,
    run.run_no,
    CASE WHEN session.is_shared AND run.input_tokens IS NOT NULL
        THEN coalesce(counted.input_tokens, 0) ELSE run.input_tokens END AS input_tokens,
    CASE WHEN session.is_shared AND run.output_tokens IS NOT NULL
        THEN coalesce(counted.output_tokens, 0) ELSE run.output_tokens END AS output_tokens,
    CASE WHEN session.is_shared AND run.reasoning_tokens IS NOT NULL
        THEN coalesce(counted.reasoning_tokens, 0) ELSE run.reasoning_tokens END AS reasoning_tokens,
    CASE WHEN session.is_shared AND run.cached_input_tokens IS NOT NULL
        THEN coalesce(counted.cached_input_tokens, 0) ELSE run.cached_input_tokens END AS cached_input_tokens
FROM run
CROSS JOIN LATERAL (
    -- Asked once, and not for each column: whether its first run is not its last one.
    SELECT run.session IS NOT NULL AND (
        SELECT first.run_id FROM run AS first WHERE md5(first.session) = md5(run.session)
        ORDER BY first.started_at, first.run_id LIMIT 1
    ) <> (
        SELECT last.run_id FROM run AS last WHERE md5(last.session) = md5(run.session)
        ORDER BY last.started_at DESC, last.run_id DESC LIMIT 1
    ) AS is_shared
    OFFSET 0
) AS session
CROSS JOIN LATERAL (
    SELECT
        runtape_sum(sum(entry.input_tokens)) AS input_tokens,
        runtape_sum(sum(entry.output_tokens)) AS output_tokens,
        runtape_sum(sum(entry.reasoning_tokens)) AS reasoning_tokens,
        runtape_sum(sum(entry.cached_input_tokens)) AS cached_input_tokens
    FROM counted_usage AS entry
    WHERE session.is_shared AND entry.root_id = run.root_id AND entry.run_no = run.run_no
        AND NOT entry.is_repeated
) AS counted;

CREATE VIEW v_runs AS
SELECT
    run.run_id,
    run.job_id,
    CASE WHEN run.run_no <> 0 THEN run.root_id END AS root_run_id,
    parent.run_id AS parent_run_id,
    run.runtime,
    coalesce(run.status, 'proceeding') AS status,
    run.expert,
    run.model,
    run.session AS session_id,
    run.cwd,
    run.cli_version,
    runtape_time(run.started_at) COLLATE "C" AS started_at,
    runtape_time(run.finished_at) COLLATE "C" AS finished_at,
    run.started_at AS started_ms,
    run.finished_at AS finished_ms,
    run.duration_ms,
    run.steps,
    run.messages,
    run.records,
    run.unparsed,
    counted.input_tokens,
    counted.output_tokens,
    counted.reasoning_tokens,
    counted.cached_input_tokens,
    run.cost_usd,
    run.error_name,
    run.error_family,
    run.error_message,
    root.seal_number AS seal,
    run.reported_duration_ms,
    run.prompt,
    run.argv,
    run.permission_mode,
    run.host,
    run."user",
    run.exit_code,
    run.signal,
    run.git_commit,
    run.git_branch,
    run.labels,
    run.outcome,
    run.session_title,
    root.seal_chain
FROM run
JOIN counted_run AS counted ON counted.root_id = run.root_id AND counted.run_no = run.run_no
LEFT JOIN root ON root.root_id = run.root_id AND run.run_no = 0
LEFT JOIN run AS parent ON parent.root_id = run.root_id AND parent.run_no = run.parent_no;

CREATE VIEW v_jobs AS
SELECT
    run.job_id,
    CASE
        WHEN count(*) FILTER (WHERE run.status IS NULL) > 0 THEN 'running'
        ELSE coalesce((
            SELECT CASE latest.status
                WHEN 'stoppedByExceededMaxSteps' THEN 'stoppedByMaxSteps'
                WHEN 'stoppedByDelegate' THEN 'running'
                ELSE latest.status
            END
            FROM run AS latest
            WHERE latest.job_id = run.job_id AND latest.run_no = 0 AND latest.status IS NOT NULL
            ORDER BY latest.started_at DESC, latest.run_id DESC LIMIT 1
        ), 'running')
    END AS status,
    (
        SELECT coalesce(first.expert, first.runtime) FROM run AS first
        WHERE first.job_id = run.job_id AND first.run_no = 0
        ORDER BY first.started_at, first.run_id LIMIT 1
    ) AS expert,
    count(*) FILTER (WHERE run.run_no = 0) AS root_runs,
    count(*) AS runs,
    runtape_sum(sum(run.steps)) AS steps,
    runtape_sum(sum(counted.input_tokens)) AS input_tokens,
    runtape_sum(sum(counted.output_tokens)) AS output_tokens,
    runtape_sum(sum(counted.reasoning_tokens)) AS reasoning_tokens,
    runtape_sum(sum(counted.cached_input_tokens)) AS cached_input_tokens,
    -- In decimals, so that it does not matter in which order they are added.
    sum(run.cost_usd::text::numeric)::double precision AS cost_usd,
    runtape_time(min(run.started_at)) COLLATE "C" AS started_at,
    CASE WHEN count(*) FILTER (WHERE run.status IS NULL) = 0
        THEN runtape_time(max(run.finished_at)) COLLATE "C" END AS finished_at,
    CASE
        WHEN count(*) FILTER (WHERE run.status IS NULL) > 0 THEN 'running'
        ELSE (
            SELECT latest.outcome FROM run AS latest
            WHERE latest.job_id = run.job_id AND latest.run_no = 0
            ORDER BY latest.started_at DESC, latest.run_id DESC LIMIT 1
        )
    END AS outcome
FROM run
JOIN counted_run AS counted ON counted.root_id = run.root_id AND counted.run_no = run.run_no
GROUP BY run.job_id;

-- Labels of root runs hold for the runs that they started.
CREATE VIEW v_labels AS
SELECT
    run.run_id,
    run.job_id,
    label.label COLLATE "C" AS label,
    label.value COLLATE "C" AS value
FROM run
JOIN run AS main ON main.root_id = run.root_id AND main.run_no = 0
CROSS JOIN LATERAL runtape_labels(main.labels) AS label
WHERE main.labels IS NOT NULL;

CREATE VIEW v_steps AS
SELECT
    run.run_id,
    run.job_id,
    run.runtime,
    step.step,
    step.status,
    runtape_time(step.started_at) COLLATE "C" AS started_at,
    runtape_time(step.finished_at) COLLATE "C" AS finished_at,
    runtape_sum(step.finished_at::numeric - step.started_at) AS elapsed_ms,
    step.tool_calls,
    step.input_tokens,
    step.output_tokens,
    step.reasoning_tokens,
    step.cached_input_tokens
FROM step
JOIN run ON run.root_id = step.root_id AND run.run_no = step.run_no;

CREATE VIEW v_checkpoints AS
SELECT
    step.checkpoint_id,
    run.run_id,
    run.job_id,
    step.step,
    step.seq,
    step.status,
    step.messages,
    step.pending AS pending_tool_calls,
    runtape_time(step.finished_at) COLLATE "C" AS at
FROM step
JOIN run ON run.root_id = step.root_id AND run.run_no = step.run_no;

CREATE VIEW v_tool_calls AS
SELECT
    run.run_id,
    run.job_id,
    run.runtime,
    call.step,
    call.seq,
    call.part,
    runtape_time(call.at) COLLATE "C" AS at,
    call.tool,
    call.command,
    (runtape_texts(call.paths))[1] COLLATE "C" AS path,
    call.url,
    call.is_error::integer AS is_error,
    call.duration_ms,
    call.result_seq,
    call.class,
    run.cwd
FROM tool_call AS call
JOIN run ON run.root_id = call.root_id AND run.run_no = call.run_no;

CREATE VIEW v_files AS
SELECT
    path.path COLLATE "C" AS path,
    call.tool,
    run.run_id,
    run.job_id,
    run.runtime,
    call.step,
    call.seq,
    runtape_time(call.at) COLLATE "C" AS at,
    call.is_error::integer AS is_error,
    call.class,
    run.cwd
FROM tool_call AS call
JOIN run ON run.root_id = call.root_id AND run.run_no = call.run_no
CROSS JOIN LATERAL unnest(runtape_texts(call.paths)) AS path (path)
WHERE call.paths IS NOT NULL;

CREATE VIEW v_errors AS
SELECT
    run_id,
    job_id,
    runtime,
    runtape_time(finished_at) COLLATE "C" AS at,
    status,
    error_name AS name,
    error_family AS family,
    error_message AS message,
    error_status AS status_code,
    error_retryable AS is_retryable,
    runtape_time(error_retry_at) COLLATE "C" AS retry_at,
    outcome
FROM run
-- A run that stops without proof of an end did not fail.
WHERE status IS NOT NULL AND error_name IS NOT NULL AND outcome IS DISTINCT FROM 'unfinished';

CREATE VIEW v_notices AS
SELECT
    run.run_id,
    run.job_id,
    run.runtime,
    notice.step,
    notice.seq,
    runtape_time(notice.at) COLLATE "C" AS at,
    notice.kind,
    notice.text
FROM notice
JOIN run ON run.root_id = notice.root_id AND run.run_no = notice.run_no;

CREATE VIEW v_unparsed AS
SELECT
    run.run_id,
    run.job_id,
    run.runtime,
    run.cli_version,
    unparsed.seq,
    runtape_time(unparsed.at) COLLATE "C" AS at,
    CASE unparsed.stream
        WHEN 0 THEN 'stdout' WHEN 1 THEN 'stderr' WHEN 2 THEN 'stdin' WHEN 3 THEN 'history'
    END COLLATE "C" AS stream,
    unparsed.line,
    unparsed.tag,
    unparsed.reason,
    unparsed.excerpt
FROM unparsed
JOIN run ON run.root_id = unparsed.root_id AND run.run_no = unparsed.run_no;
