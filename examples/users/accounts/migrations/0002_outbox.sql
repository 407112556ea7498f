-- Events that wait to be sent. Each further column of type text is a header of that name.
CREATE TABLE IF NOT EXISTS idem_outbox (
    -- Events of an aggregate are sent in this order.
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Copies of a record have the same id. It is the header id.
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    -- The topic is outbox.event. and this, unless the sender is told otherwise.
    aggregatetype text NOT NULL CHECK (aggregatetype <> ''),
    -- The record's key.
    aggregateid text NOT NULL CHECK (aggregateid <> ''),
    -- The header type.
    type text NOT NULL CHECK (type <> ''),
    -- The record's value; NULL is a tombstone.
    payload bytea,
    -- W3C trace context.
    traceparent text,
    tracestate text,
    -- When the transaction began that wrote it.
    written_at timestamptz NOT NULL DEFAULT now()
);
-- A relay is woken when a transaction commits that wrote events.
CREATE OR REPLACE FUNCTION idem_outbox_wake() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_catalog.pg_notify('idem_outbox', '');
    RETURN NULL;
END
$$;
DROP TRIGGER IF EXISTS idem_outbox_empty ON idem_outbox;
CREATE OR REPLACE TRIGGER idem_outbox_wake AFTER INSERT ON idem_outbox
    FOR EACH STATEMENT EXECUTE FUNCTION idem_outbox_wake();
