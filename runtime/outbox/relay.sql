-- Wakes a relay when a transaction that wrote events commits.
CREATE OR REPLACE FUNCTION idem_outbox_wake() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_catalog.pg_notify('idem_outbox', '');
    RETURN NULL;
END
$$;
DROP TRIGGER IF EXISTS idem_outbox_empty ON idem_outbox;
CREATE OR REPLACE TRIGGER idem_outbox_wake AFTER INSERT ON idem_outbox
    FOR EACH STATEMENT EXECUTE FUNCTION idem_outbox_wake();
