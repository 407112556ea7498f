-- The tables of idemgen's runtime, schema version 2: what was remembered is forgotten again.
-- Applying this file again changes nothing, also when two services apply it at the same
-- moment.

BEGIN;
SET LOCAL client_encoding = 'UTF8';

SELECT pg_advisory_xact_lock(hashtextextended('idemgen schema', 0));

-- Until when a dead letter may be replayed, by on_failure.keep. A row that is still open then
-- is closed (state x, with a line in the log), and removed after as long again; one that was
-- resolved is removed then. NULL, in rows of version 1: never.
ALTER TABLE idem_dead_letter ADD COLUMN IF NOT EXISTS expires_at timestamptz;
CREATE INDEX IF NOT EXISTS idem_dead_letter_expiry ON idem_dead_letter (stream, expires_at);

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

-- Each consumer has one open generation of keys, and no second one whatever happens.
CREATE UNIQUE INDEX IF NOT EXISTS idem_key_gen_open ON idem_key_gen (consumer) WHERE sealed_at IS NULL;

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

INSERT INTO idem_schema (version) VALUES (2) ON CONFLICT DO NOTHING;

COMMIT;
