DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tgrelid OPERATOR(pg_catalog.=) 'idem_outbox'::regclass::oid
        AND tgname OPERATOR(pg_catalog.=) 'idem_outbox_empty') THEN
        RAISE 'Debezium sends the events of idem_outbox, and it cannot send dead letters' USING
            HINT = 'Let a relay send the events: apply outbox.Migration(outbox.ByRelay) first.';
    END IF;
END $$;

-- Dead letters are sent as events. A relay builds their records from two columns:
-- payload has the record in the form of idem_dead_letter, idem_letter the headers about it, as names and values.
ALTER TABLE idem_outbox ADD COLUMN IF NOT EXISTS idem_letter text[];
CREATE INDEX IF NOT EXISTS idem_outbox_letter ON idem_outbox (id) WHERE idem_letter IS NOT NULL;

-- Dead letters of a consumer without a row are not sent.
CREATE TABLE IF NOT EXISTS idem_dead_letter_topic (
    consumer text COLLATE "C" PRIMARY KEY,
    topic text NOT NULL CHECK (topic ~ '^[A-Za-z0-9._-]{1,249}$' AND topic NOT IN ('.', '..')),
    -- whole: key, value and headers of the record; omitted: only its key.
    payload text NOT NULL DEFAULT 'whole' CHECK (payload IN ('whole', 'omitted'))
);

-- The event of a dead letter always has the same id, even if the database loses the letter and another
-- row of the ledger writes it again. A number distinguishes the letters of one record.
CREATE OR REPLACE FUNCTION idem_dead_letter_id(d idem_dead_letter) RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.overlay(pg_catalog.overlay(pg_catalog.left(pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(
        pg_catalog.concat_ws(E'\n', s.consumer, s.topic, s.topic_id, s.partition, d.offs, nullif(
            (SELECT pg_catalog.count(*) FROM idem_dead_letter e WHERE e.stream OPERATOR(pg_catalog.=) d.stream AND e.offs OPERATOR(pg_catalog.=) d.offs
                AND e.seq OPERATOR(pg_catalog.<) d.seq), 0)), 'UTF8')), 'hex'), 32), '8', 13), '8', 17)::uuid
    FROM idem_stream s WHERE s.stream OPERATOR(pg_catalog.=) d.stream
$$;

-- Writes the event of a dead letter.
CREATE OR REPLACE FUNCTION idem_dead_letter_send(d idem_dead_letter) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    place record;
    its uuid := idem_dead_letter_id(d);
    class text := pg_catalog.split_part(d.reason, ': ', 1);
    reason text := pg_catalog.substr(d.reason, pg_catalog.length(class) OPERATOR(pg_catalog.+) 3);
BEGIN
    SELECT s.*, t.topic AS target, t.payload INTO place FROM idem_stream s JOIN idem_dead_letter_topic t
        ON t.consumer OPERATOR(pg_catalog.=) s.consumer WHERE s.stream OPERATOR(pg_catalog.=) d.stream;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- Each dead letter sent there could become another one.
    IF EXISTS (SELECT FROM idem_stream s WHERE s.consumer OPERATOR(pg_catalog.=) place.consumer AND s.topic OPERATOR(pg_catalog.=) place.target) THEN
        RAISE 'dead letters of % go to topic %, which it reads itself', place.consumer, place.target USING
            ERRCODE = '23514', TABLE = 'idem_dead_letter', CONSTRAINT = 'idem_dead_letter_topic_is_read',
            HINT = 'Change the topic in idem_dead_letter_topic.';
    END IF;
    IF pg_catalog.starts_with(reason, d.event OPERATOR(pg_catalog.||) ': ') THEN
        reason := pg_catalog.substr(reason, pg_catalog.length(d.event) OPERATOR(pg_catalog.+) 3);
    END IF;
    INSERT INTO idem_outbox (id, aggregatetype, aggregateid, type, payload, idem_letter) VALUES (
        its, place.target, pg_catalog.concat_ws('/', d.stream, coalesce(d.order_key::text, d.offs::text)),
        pg_catalog.format('dead letter of %s: %s/%s offset %s', place.consumer, place.topic, place.partition, d.offs), d.record, ARRAY[
            'idem.id', its::text, 'idem.consumer', place.consumer, 'idem.topic', place.topic, 'idem.topic_id', place.topic_id::text,
            'idem.partition', place.partition::text, 'idem.offset', d.offs::text, 'idem.class', class, 'idem.event', coalesce(d.event, ''),
            'idem.reason', reason, 'idem.sqlstate', coalesce(d.sqlstate, ''),
            'idem.created_at', pg_catalog.to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            'idem.payload', CASE WHEN d.erased_by IS NOT NULL THEN 'erased' WHEN d.record IS NULL THEN 'dropped' ELSE place.payload END
        ]);
END
$$;

-- The event changes with its dead letter until it is sent. It is deleted if the letter is no longer dead.
-- The function runs with the rights of the role that applies this file: the roles of services and
-- operators need no rights for it.
CREATE OR REPLACE FUNCTION idem_dead_letter_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF OLD.state OPERATOR(pg_catalog.=) 'd' THEN
        DELETE FROM idem_outbox o USING (SELECT idem_dead_letter_id(OLD) AS id) its
            WHERE o.id OPERATOR(pg_catalog.=) its.id AND o.idem_letter IS NOT NULL;
        IF NOT FOUND THEN -- it was sent
            RETURN NULL;
        END IF;
    END IF;
    IF NEW.state OPERATOR(pg_catalog.=) 'd' THEN
        PERFORM idem_dead_letter_send(NEW);
    END IF;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER idem_dead_letter_changed AFTER INSERT OR UPDATE OF state, record ON idem_dead_letter
    FOR EACH ROW EXECUTE FUNCTION idem_dead_letter_changed();
DO $$
BEGIN
    EXECUTE pg_catalog.format('ALTER FUNCTION idem_dead_letter_changed() SET search_path = pg_catalog, %s, pg_temp', (SELECT
        relnamespace::regnamespace FROM pg_catalog.pg_class WHERE oid OPERATOR(pg_catalog.=) 'idem_outbox'::regclass::oid));
    REVOKE ALL ON FUNCTION idem_dead_letter_changed() FROM PUBLIC;
END $$;
