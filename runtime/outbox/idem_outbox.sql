-- Events that wait to be sent. Each additional column of type text is a header with that name.
CREATE TABLE IF NOT EXISTS idem_outbox (
    -- Events of an aggregate are sent in this order.
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- The header id: duplicates of a record have the same one.
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    -- The topic is outbox.event. followed by this, unless the sender is configured otherwise.
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
    -- When the transaction that wrote it began.
    written_at timestamptz NOT NULL DEFAULT now()
);
