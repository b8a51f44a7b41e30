-- Usage by day read every entry of the ledger. What counts of the trees of runs that are sealed is kept
-- added up from here on: by quarter of an hour, since local days begin at one in every time zone, and by
-- day in UTC. A tree that is open, or whose numbers are absurd, is not among the sums, and read as before.

-- The sums hold what the tree of this root run used (1), or never will (2): its numbers are absurd.
ALTER TABLE run ADD COLUMN summed INTEGER NOT NULL DEFAULT 0;

-- Trees that are not among the sums, those that could be told from those that are open.
CREATE INDEX run_unsummed ON run (summed, seal) WHERE root IS NULL AND summed <> 1;

CREATE TABLE usage_sum (
    -- How many quarters of an hour: 1, or 96 for a day.
    span INTEGER NOT NULL,
    -- The first of them, counted from 1970 in UTC.
    start INTEGER NOT NULL,
    runtime INTEGER NOT NULL,
    -- 0 where none is known. Words that sums refer to are those of the runs that are summed.
    model INTEGER NOT NULL,
    -- Whether the runtime reported what these tokens cost (1), and whether the prompt was long (2).
    kind INTEGER NOT NULL,
    -- Root runs that began then.
    runs INTEGER NOT NULL,
    -- Runs that ended then and reported a cost, and the cost in thousand millionths of a dollar.
    costs INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    -- Each counter, and how many entries know it.
    input_tokens INTEGER NOT NULL,
    inputs INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    outputs INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    reasonings INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL,
    cached_inputs INTEGER NOT NULL,
    PRIMARY KEY (span, start, runtime, model, kind)
) STRICT, WITHOUT ROWID;
