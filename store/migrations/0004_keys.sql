-- The key of a deleted run was given to the next one, so that whatever still named the old run by
-- its key (the search index of a crashed deletion, a page of a list, a query of somebody's own)
-- named the new one. Keys are counted from here on, and none is given twice.
CREATE TABLE key_counter (
    -- The table whose keys are counted.
    name TEXT PRIMARY KEY,
    -- The highest key that was ever given.
    last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO key_counter (name, last) SELECT 'run', coalesce(max(key), 0) FROM run;
INSERT INTO key_counter (name, last) SELECT 'job', coalesce(max(key), 0) FROM job;
INSERT INTO key_counter (name, last) SELECT 'word', coalesce(max(key), 0) FROM word;
