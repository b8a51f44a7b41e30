-- The index had a row for each record and the place of each word in it: making it took several times as
-- long as storing the records, and it knew no errors and notices. Now it has a row for each stretch of
-- a run's records, with the words that are in it once; what it finds is read and looked at. A row is
-- named by the first record of its stretch, which ends where the next one begins.
DROP TABLE search;

CREATE VIRTUAL TABLE search USING fts5 (
    words,
    content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);

UPDATE run SET searched = 0 WHERE searched <> 0;
