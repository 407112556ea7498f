-- The tables of idemgen's runtime, schema version 1.
-- One set serves every consumer of a database. Applying this file again changes nothing,
-- also when two services apply it at the same moment.

BEGIN;
SET LOCAL client_encoding = 'UTF8';

SELECT pg_advisory_xact_lock(hashtextextended('idemgen schema', 0));

-- Which versions of these tables were applied. The runtime reads the highest at start. The id of
-- version 1 is that of the database: leases outside of it are kept apart by that.
CREATE TABLE IF NOT EXISTS idem_schema (
    version int PRIMARY KEY,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
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
    kind "char" NOT NULL, -- g genesis, f fence of a new owner, b batch, l a dead letter was resolved, o operator, s skip, r rewind
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
        OR (kind IN ('g', 'f', 'l', 'o') AND next = prev)
        OR (kind = 'r' AND next < prev)
    ),
    CONSTRAINT idem_ledger_window CHECK (window_seq <= seq)
);
-- What happened besides batches, for people (idemgen ledger): no batch touches it.
CREATE INDEX IF NOT EXISTS idem_ledger_marks ON idem_ledger (stream, seq) WHERE kind <> 'b';
ALTER TABLE idem_ledger ALTER COLUMN keys SET STORAGE EXTERNAL; -- hashes do not compress
ALTER TABLE idem_ledger SET ( -- a plan made for the empty table would scan the full one
    autovacuum_analyze_threshold = 1000,
    autovacuum_analyze_scale_factor = 0
);

-- What operators did (idemgen stream): their rows are moved here when the rows of the ledger
-- around them are removed, and stay for a year.
CREATE TABLE IF NOT EXISTS idem_operator (
    stream int NOT NULL,
    seq bigint NOT NULL,
    kind "char" NOT NULL,
    prev bigint NOT NULL, -- the position before
    next bigint NOT NULL, -- and after
    written_at timestamptz NOT NULL,
    info text, -- who, and why
    PRIMARY KEY (stream, seq)
);

-- Records that could not be applied, kept with the reason. A row is written in the
-- transaction that passes the record, so none is passed without a row. The owner of the
-- partition changes the state, with a row of the ledger; the upkeep closes what nobody replayed.
CREATE TABLE IF NOT EXISTS idem_dead_letter (
    stream int NOT NULL,
    offs bigint NOT NULL, -- the record's offset
    seq bigint NOT NULL, -- the ledger row that passed it
    state "char" NOT NULL CHECK (state IN ('d', 'w', 'r', 'x')), -- dead, waiting behind one, replayed, discarded
    event text, -- its name in Go; NULL if the record is none of the spec's, as far as anybody knows
    reason text NOT NULL, -- its first word is the class: decode, key, conflict, database, ...
    sqlstate text,
    order_key uuid, -- hash of the record key; NULL if the record has none
    parks boolean NOT NULL DEFAULT false, -- later records of the record key wait behind it while it is d or w
    key uuid, -- idempotency key of a conflict, or of an effect
    -- What the call of its effect returned, if one was made and recorded: null if it has no result,
    -- empty if it is not kept. A replay takes it, and makes no call.
    result bytea,
    record bytea, -- the record as it was read; NULL if it is not kept, or was erased
    erased_by text, -- who erased record and reason, and why
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    resolved_at timestamptz,
    resolved_seq bigint, -- the ledger row with which it was replayed or discarded
    resolved_by text, -- who, and why
    -- What an operator asks of the partition's owner: r to replay it, x to discard it. It is NULL
    -- again when the owner has answered.
    asked "char" CHECK (asked IN ('r', 'x')),
    asked_at timestamptz,
    asked_by text, -- who, and why
    -- Of r: the request's number, drawn from idem_fence. It lets an effect be called again whose
    -- lease has a smaller one.
    asked_number bigint,
    asked_result bytea, -- of r: what the effect returned, as the operator says, until it is answered
    asked_with_result boolean NOT NULL DEFAULT false, -- of the last request: a result was given
    answer text, -- what became of the last request
    answered_at timestamptz,
    -- Until when it may be replayed, by on_failure.keep. A row that is still open then is closed
    -- (state x, with a line in the log), and removed after as long again; one that was resolved is
    -- removed then. NULL: never.
    expires_at timestamptz,
    PRIMARY KEY (stream, offs, seq)
);
CREATE INDEX IF NOT EXISTS idem_dead_letter_open ON idem_dead_letter (stream, order_key, offs)
    WHERE state IN ('d', 'w');
CREATE INDEX IF NOT EXISTS idem_dead_letter_asked ON idem_dead_letter (stream, offs, seq) WHERE asked IS NOT NULL;
CREATE INDEX IF NOT EXISTS idem_dead_letter_expiry ON idem_dead_letter (stream, expires_at);

-- Always empty. A statement that finds its assumption broken inserts a row, which fails
-- under a name that the runtime knows, and so aborts the transaction.
CREATE TABLE IF NOT EXISTS idem_assert (
    what text NOT NULL,
    CONSTRAINT idem_assert_failed CHECK (what IN ('lease', 'letter')),
    CONSTRAINT idem_assert_lease CHECK (what <> 'lease'), -- an effect's lease is not as it was
    CONSTRAINT idem_assert_letter CHECK (what <> 'letter') -- nor is a dead letter
);

-- Always empty. A step that cannot do what it says, such as an update that does not find its
-- row, inserts why, which fails: the event becomes a dead letter instead of passing without
-- effect.
CREATE TABLE IF NOT EXISTS idem_step_refused (
    reason text NOT NULL,
    in_table text NOT NULL,
    CONSTRAINT idem_step_refused CHECK (false)
);

-- Numbers of leases, which only grow: whoever guards something outside of Postgres by them refuses
-- a number below one that it has seen.
CREATE SEQUENCE IF NOT EXISTS idem_fence;

-- Effects outside of Postgres: one row for each event with an effect, from the first try on.
-- A call belongs to the owner and the number in the row; one that lost them records nothing.
CREATE TABLE IF NOT EXISTS idem_lease (
    consumer text COLLATE "C" NOT NULL,
    key uuid NOT NULL, -- hash of the idempotency key
    def int NOT NULL, -- definition of the content that the fingerprint covers: a hash
    fp int NOT NULL, -- fingerprint of the content
    -- p processing; d done, the result is recorded; c completed, the ledger passed the event too;
    -- f failed, may be called again; i interrupted: nobody knows what the call did
    state "char" NOT NULL CHECK (state IN ('p', 'd', 'c', 'f', 'i')),
    owner uuid NOT NULL, -- random, new for each try
    decision bigint, -- number of the operator's request that the last try was made for
    fence bigint NOT NULL, -- the lease's number
    attempts int NOT NULL, -- calls that began
    term interval NOT NULL, -- how long the lease lasts unless it is extended
    interrupts boolean NOT NULL, -- a lease that ends before its call makes it interrupted
    keep interval NOT NULL, -- how long what became of the key is remembered
    expires_at timestamptz NOT NULL, -- of p: the lease; of f: until then no call begins
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(), -- when the state changed
    forget_at timestamptz, -- of d, c and f: keep after that
    result bytea,
    error text,
    PRIMARY KEY (consumer, key)
);
CREATE INDEX IF NOT EXISTS idem_lease_over ON idem_lease (consumer, forget_at) WHERE state IN ('c', 'd', 'f');

-- Generations of remembered idempotency keys. Each consumer has exactly one
-- open, and no second one whatever happens.
CREATE TABLE IF NOT EXISTS idem_key_gen (
    gen int PRIMARY KEY, -- of its table, idem_keys_<gen>, which is used again when it is over
    consumer text COLLATE "C" NOT NULL,
    token uuid NOT NULL, -- names this very generation in a claim
    keep interval NOT NULL,
    opened_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    sealed_at timestamptz, -- NULL while open
    seal uuid -- names its content from then on
);
CREATE UNIQUE INDEX IF NOT EXISTS idem_key_gen_open ON idem_key_gen (consumer) WHERE sealed_at IS NULL;

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

-- What changes the tables of keys. These functions run with the rights of the role that
-- applies this file, which owns them and the tables, and needs CREATE on this schema for as
-- long as services run. A service's role needs no more than EXECUTE. Each takes its lock for
-- as long as the caller's lock_timeout says, and does all of its work in one transaction.

-- A table of keys that no generation has: one that is over, else a new one. ATTACH takes no
-- lock that claims or reads would wait for.
CREATE OR REPLACE FUNCTION idem_keys_prepare() RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    number int;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('idemgen generation', 0));
    SELECT min(substring(c.relname FROM 11)::int) INTO number
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'idem_keys'::regclass AND c.relname ~ '^idem_keys_[0-9]{1,9}$'
        AND NOT EXISTS (SELECT FROM idem_key_gen g WHERE g.gen = substring(c.relname FROM 11)::int);
    IF number IS NOT NULL THEN
        RETURN number;
    END IF;
    SELECT 1 + greatest((SELECT coalesce(max(gen), 0) FROM idem_key_gen), coalesce(max(substring(c.relname FROM 11)::int), 0)) INTO number
    FROM pg_class c
    WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'idem_keys'::regclass) AND c.relname ~ '^idem_keys_[0-9]{1,9}$';
    EXECUTE format('CREATE TABLE idem_keys_%s (LIKE idem_keys, PRIMARY KEY (key))', number);
    EXECUTE format('ALTER TABLE idem_keys ATTACH PARTITION idem_keys_%s FOR VALUES IN (%s)', number, number);
    RETURN number;
END $$;

-- Opens a consumer's first generation, unless one is open.
CREATE OR REPLACE FUNCTION idem_keys_open(whose text, kept interval) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    number int;
BEGIN
    IF coalesce(whose, '') = '' OR kept IS NULL OR kept < interval '0' THEN
        RAISE 'idem_keys_open: a consumer and how long its keys are kept, got % and %', whose, kept USING ERRCODE = '22023';
    END IF;
    number := idem_keys_prepare(); -- its lock: one of two callers finds that the other was first
    IF NOT EXISTS (SELECT FROM idem_key_gen WHERE consumer = whose AND sealed_at IS NULL) THEN
        INSERT INTO idem_key_gen (gen, consumer, token, keep) VALUES (number, whose, gen_random_uuid(), kept);
    END IF;
END $$;

-- Seals the open generation of a consumer, and opens the next one in a table that
-- idem_keys_prepare named. The constraint waits for the claims in flight, and refuses those
-- to come.
CREATE OR REPLACE FUNCTION idem_keys_seal(whose text, number int, next_number int, kept interval) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF kept IS NULL OR kept < interval '0' OR NOT EXISTS (SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'idem_keys'::regclass AND c.relname = 'idem_keys_' || next_number) THEN
        RAISE 'idem_keys_seal: % is no table of keys, or keys cannot be kept for %', next_number, kept USING ERRCODE = '22023';
    END IF;
    IF EXISTS (SELECT FROM idem_key_gen WHERE gen = number AND consumer = whose AND sealed_at IS NULL) THEN
        EXECUTE format('ALTER TABLE idem_keys_%s ADD CONSTRAINT idem_keys_sealed CHECK (false) NOT VALID', number);
        UPDATE idem_key_gen SET sealed_at = clock_timestamp(), seal = gen_random_uuid()
        WHERE gen = number AND consumer = whose AND sealed_at IS NULL;
        IF FOUND THEN
            INSERT INTO idem_key_gen (gen, consumer, token, keep) VALUES (next_number, whose, gen_random_uuid(), kept);
            RETURN;
        END IF;
    END IF;
    RAISE 'generation % of keys is not open any more', number USING ERRCODE = '55000';
END $$;

-- Forgets the keys of a generation that is over: its table is free for another one. Nobody
-- claims in it, so that this waits for those who read in it, and nothing else.
CREATE OR REPLACE FUNCTION idem_keys_forget(whose text, number int) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM idem_key_gen WHERE gen = number AND consumer = whose AND sealed_at < clock_timestamp() - keep) THEN
        RAISE 'generation % of keys is not over', number USING ERRCODE = '55000';
    END IF;
    IF to_regclass('idem_keys_' || number) IS NOT NULL THEN
        EXECUTE format('TRUNCATE idem_keys_%s', number);
        EXECUTE format('ALTER TABLE idem_keys_%s DROP CONSTRAINT IF EXISTS idem_keys_sealed', number);
    END IF;
    DELETE FROM idem_key_gen WHERE gen = number;
END $$;

-- Nobody may call them who was not granted it, and they see the tables of this schema only.
DO $$
DECLARE
    f regprocedure;
BEGIN
    FOREACH f IN ARRAY ARRAY['idem_keys_prepare()', 'idem_keys_open(text, interval)', 'idem_keys_seal(text, int, int, interval)',
        'idem_keys_forget(text, int)']::regprocedure[]
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', f, (SELECT n.nspname
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = 'idem_keys'::regclass));
    END LOOP;
END $$;

INSERT INTO idem_schema (version) VALUES (1) ON CONFLICT DO NOTHING;

COMMIT;
