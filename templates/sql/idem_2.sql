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

INSERT INTO idem_schema (version) VALUES (2) ON CONFLICT DO NOTHING;

COMMIT;
