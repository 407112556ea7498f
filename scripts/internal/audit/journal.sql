-- Every effect on an order, in the order in which it happens: n is drawn while the row is locked.
CREATE TABLE audit_journal (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    order_id uuid NOT NULL,
    effect text NOT NULL,
    tx xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX ON audit_journal (tx);

CREATE FUNCTION audit_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO audit_journal (order_id, effect) VALUES (NEW.order_id, 'placed');
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO audit_journal (order_id, effect) VALUES (OLD.order_id, 'erased');
    ELSIF (NEW.status, NEW.note) IS DISTINCT FROM (OLD.status, OLD.note) THEN
        INSERT INTO audit_journal (order_id, effect) VALUES (NEW.order_id, 'shipped ' || NEW.note);
    ELSE
        INSERT INTO audit_journal (order_id, effect) VALUES (NEW.order_id, 'paid ' || (NEW.paid - OLD.paid));
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER audit_order AFTER INSERT OR UPDATE OR DELETE ON orders FOR EACH ROW EXECUTE FUNCTION audit_order();

-- Rows that handlers fight for, in faults that make deadlocks.
CREATE TABLE audit_contended (id int PRIMARY KEY, n bigint NOT NULL DEFAULT 0);
INSERT INTO audit_contended SELECT generate_series(1, 4);
