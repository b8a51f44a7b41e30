-- A period selects whatever has a time of its own by that time, and runs by whether they were active then. The latest calls and
-- notices are read from the end of their index, and nothing is sorted; with the same time, which few have, they are put in order.
CREATE INDEX tool_call_by_time ON tool_call (at);
CREATE INDEX notice_by_time ON notice (at);
CREATE INDEX usage_by_time ON usage (at);

-- Runs that were active at a time are those that ended later, or have not ended. The beginnings tell from where on the runs
-- are to be read in their own order.
CREATE INDEX run_by_end ON run (finished_at, started_at);
CREATE INDEX run_failed ON run (finished_at, id) WHERE error_name IS NOT NULL;
