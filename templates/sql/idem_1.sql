-- The tables of idemgen's runtime, schema version 1.
-- One set serves every consumer of a database. Applying this file again changes nothing,
-- also when two services apply it at the same moment.

BEGIN;
SET LOCAL client_encoding = 'UTF8';

SELECT pg_advisory_xact_lock(hashtextextended('idemgen schema', 0));

-- Which versions of these tables were applied. The runtime reads the highest at start.
CREATE TABLE IF NOT EXISTS idem_schema (
    version int PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- One row per consumer, topic and partition, written when its first record is read.
-- Rows are never deleted: a stream without ledger rows is an error, not a new start.
CREATE TABLE IF NOT EXISTS idem_stream (
    stream int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    consumer text COLLATE "C" NOT NULL,
    topic text COLLATE "C" NOT NULL,
    topic_id uuid NOT NULL, -- the broker's id: a topic created anew is another stream
    partition int NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT idem_stream_identity UNIQUE (consumer, topic, topic_id, partition)
);

-- The progress of each stream: one row per transaction, appended by its first statement.
-- A row can only follow the row that the writer knows as the last one; everything else
-- the writer sends in that transaction takes effect or vanishes together with its row.
CREATE TABLE IF NOT EXISTS idem_ledger (
    stream int NOT NULL, -- no foreign key: it would lock the stream's row in every transaction
    seq bigint NOT NULL, -- 0, 1, 2, ... without gaps
    token uuid NOT NULL, -- random, new for every attempt
    prev bigint NOT NULL, -- next of the row before; NULL, and so refused, if that row is not there
    next bigint NOT NULL, -- first offset not yet covered
    kind "char" NOT NULL, -- g genesis, f fence of a new owner, b batch, o operator, s skip, r rewind
    epoch int NOT NULL, -- leader epoch of the last record, -1 if unknown
    def int NOT NULL, -- identity of the events as the spec of this row's service has it: a hash; 0 is none
    parts int NOT NULL, -- partitions that the topic had
    window_seq bigint NOT NULL, -- first row whose keys are still remembered
    written_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    keys bytea, -- 20 bytes per applied key: 16 of its hash, 4 of the content's fingerprint
    info text, -- who wrote a row that is no batch, and why
    key_defs bytea, -- 8 bytes per group of keys: definition of their content, and how many they are
    CONSTRAINT idem_ledger_pkey PRIMARY KEY (stream, seq),
    CONSTRAINT idem_ledger_shape CHECK (
        (kind IN ('b', 's') AND next > prev)
        OR (kind IN ('g', 'f', 'o') AND next = prev)
        OR (kind = 'r' AND next < prev)
    ),
    CONSTRAINT idem_ledger_window CHECK (window_seq <= seq)
);
ALTER TABLE idem_ledger ALTER COLUMN keys SET STORAGE EXTERNAL; -- hashes do not compress
ALTER TABLE idem_ledger SET ( -- a plan made for the empty table would scan the full one
    autovacuum_analyze_threshold = 1000,
    autovacuum_analyze_scale_factor = 0
);

-- Records that could not be applied, kept with the reason. A row is written in the
-- transaction that passes the record, so none is passed without a row.
CREATE TABLE IF NOT EXISTS idem_dead_letter (
    stream int NOT NULL,
    offs bigint NOT NULL, -- the record's offset
    seq bigint NOT NULL, -- the ledger row that passed it
    state "char" NOT NULL CHECK (state IN ('d', 'w', 'r', 'x')), -- dead, waiting behind one, replayed, discarded
    reason text NOT NULL, -- its first word is the class: decode, key, conflict, database, ...
    sqlstate text,
    order_key uuid, -- hash of the record key, if later records of that key wait behind this one
    key uuid, -- idempotency key
    fp int, -- fingerprint of the content
    record bytea, -- the record as it was read
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    resolved_at timestamptz,
    resolved_seq bigint,
    resolved_by text,
    PRIMARY KEY (stream, offs, seq)
);
CREATE INDEX IF NOT EXISTS idem_dead_letter_open ON idem_dead_letter (stream, order_key, offs)
    WHERE state IN ('d', 'w');

-- Always empty. A statement that finds its assumption broken inserts a row, which fails
-- under a name that the runtime knows, and so aborts the transaction.
CREATE TABLE IF NOT EXISTS idem_assert (
    what text NOT NULL,
    CONSTRAINT idem_assert_failed CHECK (false)
);

-- The runtime gives each of its sessions a mark. What decides or writes asks for it, so that
-- no connection pooler can hand it to another client's session, with other settings.
CREATE OR REPLACE FUNCTION idem_session(mark text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF mark IS NULL OR current_setting('idem.session', true) = mark THEN
        RETURN true;
    END IF;
    RAISE 'the connection leads to another session than the one that it was given'
        USING ERRCODE = 'invalid_sql_statement_name';
END
$$;

-- Always empty. An update that does not find its row inserts the table's name, which fails:
-- the event becomes a dead letter instead of passing without effect.
CREATE TABLE IF NOT EXISTS idem_row_missing (
    what text NOT NULL,
    CONSTRAINT idem_row_missing CHECK (false)
);

-- Generations of remembered idempotency keys. Each consumer has exactly one open.
CREATE TABLE IF NOT EXISTS idem_key_gen (
    gen int PRIMARY KEY, -- of its table, idem_keys_<gen>, which is used again when it is over
    consumer text COLLATE "C" NOT NULL,
    token uuid NOT NULL, -- names this very generation in a claim
    keep interval NOT NULL,
    opened_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    sealed_at timestamptz, -- NULL while open
    seal uuid -- names its content from then on
);

-- Remembered idempotency keys: one partition per generation, idem_keys_<gen>, made by
-- idem_keys_prepare with PRIMARY KEY (key), so that no key can be claimed twice.
CREATE TABLE IF NOT EXISTS idem_keys (
    gen int NOT NULL,
    key uuid NOT NULL, -- hash of the idempotency key
    def int NOT NULL, -- definition of the content that the fingerprint covers: a hash
    fp int NOT NULL, -- fingerprint of the content: the same key with other content is a conflict
    stream int NOT NULL, -- where the first copy stood
    seq bigint NOT NULL
) PARTITION BY LIST (gen);

INSERT INTO idem_schema (version) VALUES (1) ON CONFLICT DO NOTHING;

COMMIT;
