-- Dead letters are sent to a topic: of each it is kept whether that was done.
ALTER TABLE idem_dead_letter ADD COLUMN IF NOT EXISTS sent_at timestamptz; -- NULL: it waits to be sent
CREATE INDEX IF NOT EXISTS idem_dead_letter_unsent ON idem_dead_letter (stream, offs, seq)
    WHERE sent_at IS NULL AND state = 'd';

-- A relay is woken when a transaction commits in which a record died.
CREATE OR REPLACE FUNCTION idem_dead_letter_wake() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_catalog.pg_notify('idem_dead_letter', '');
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER idem_dead_letter_wake AFTER INSERT OR UPDATE OF state ON idem_dead_letter
    FOR EACH ROW WHEN (NEW.state = 'd') EXECUTE FUNCTION idem_dead_letter_wake();
