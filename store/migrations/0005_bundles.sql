-- What a bundle needs: some runs of a database, with the proof of their place in its chain.

-- The hash before each entry of the chain whose neighbour is not here. A whole database has none.
CREATE TABLE seal_before (
    -- The entry that comes after.
    number INTEGER PRIMARY KEY,
    hash BLOB NOT NULL
) STRICT;

-- What the chain says of a run besides its seal.
CREATE INDEX seal_by_run ON seal (run_id) WHERE run_id IS NOT NULL;
