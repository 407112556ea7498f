DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tgrelid OPERATOR(pg_catalog.=) pg_catalog.to_regclass('idem_dead_letter')::oid
        AND tgname OPERATOR(pg_catalog.=) 'idem_dead_letter_changed') THEN
        RAISE 'dead letters are sent from idem_outbox, which Debezium cannot do' USING
            HINT = 'Keep the relay, or send no dead letters: DROP TRIGGER idem_dead_letter_changed ON idem_dead_letter.';
    END IF;
END $$;
-- Debezium reads the write-ahead log, so the table stays empty.
CREATE OR REPLACE FUNCTION idem_outbox_empty() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM idem_outbox o USING written w WHERE o.seq OPERATOR(pg_catalog.=) w.seq;
    RETURN NULL;
END
$$;
DROP TRIGGER IF EXISTS idem_outbox_wake ON idem_outbox;
CREATE OR REPLACE TRIGGER idem_outbox_empty AFTER INSERT ON idem_outbox
    REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION idem_outbox_empty();
-- Publishes the inserts to Debezium, which therefore needs no right to the table.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_publication WHERE pubname OPERATOR(pg_catalog.=) 'idem_outbox') THEN
        CREATE PUBLICATION idem_outbox FOR TABLE idem_outbox WITH (publish = 'insert');
    ELSIF NOT EXISTS (
        SELECT FROM pg_catalog.pg_publication_rel r JOIN pg_catalog.pg_publication p ON p.oid OPERATOR(pg_catalog.=) r.prpubid
        WHERE p.pubname OPERATOR(pg_catalog.=) 'idem_outbox' AND r.prrelid OPERATOR(pg_catalog.=) 'idem_outbox'::regclass::oid
    ) THEN
        ALTER PUBLICATION idem_outbox ADD TABLE idem_outbox;
    END IF;
END
$$;
