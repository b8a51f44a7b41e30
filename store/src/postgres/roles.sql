-- Two roles with the least rights: for a database that `runtape db migrate` has made, and run once by its owner.
--
-- A recorder can only append. It adds runs, records, tapes and seals, and changes what changes while a run is written:
-- what is known of the run, the results of its calls, its lease, the ends of the chains. It deletes nothing but its
-- leases, and changes no record, no tape and no seal. What it could still change in a row of a run follows from records,
-- and `verify` finds it. (It does not make few blocks of many small ones when a run ends, for that deletes rows.)
--
-- A reader can only read: lists, records, tapes, searches, questions in SQL, `verify`.
CREATE ROLE runtape_recorder NOLOGIN;
CREATE ROLE runtape_reader NOLOGIN;

REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO runtape_recorder, runtape_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO runtape_recorder, runtape_reader;

GRANT INSERT ON root, run, run_place, record_block, tape_block, step, tool_call, notice, unparsed, usage, usage_sum,
    lease, seal, epoch TO runtape_recorder;
GRANT UPDATE (context, exit, seal_chain, seal_number, summed, next_no) ON root TO runtape_recorder;
GRANT UPDATE (job_id, parent_no, runtime, expert, model, session, cwd, cli_version, status, started_at, finished_at,
    steps, messages, unparsed, records, input_tokens, output_tokens, reasoning_tokens, cached_input_tokens, cost_usd,
    duration_ms, error_name, error_family, error_message, error_status, error_retryable, error_retry_at,
    reported_duration_ms, prompt, argv, permission_mode, host, "user", exit_code, signal, git_commit, git_branch,
    labels, outcome, session_title) ON run TO runtape_recorder;
GRANT UPDATE (result_seq, is_error, duration_ms) ON tool_call TO runtape_recorder;
GRANT UPDATE (number, hash) ON chain_head TO runtape_recorder;
GRANT UPDATE ON usage_sum TO runtape_recorder;
GRANT UPDATE, DELETE ON lease TO runtape_recorder;
