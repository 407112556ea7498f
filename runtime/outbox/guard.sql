-- An object of another role with one of these names would be mistaken for one of this file: it is refused.
DO $$
DECLARE
    home oid := (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname OPERATOR(pg_catalog.=) pg_catalog.current_schema());
    trusted oid[] := ARRAY[(SELECT oid FROM pg_catalog.pg_roles WHERE rolname OPERATOR(pg_catalog.=) CURRENT_USER),
        (SELECT datdba FROM pg_catalog.pg_database WHERE datname OPERATOR(pg_catalog.=) pg_catalog.current_database()),
        (SELECT nspowner FROM pg_catalog.pg_namespace WHERE oid OPERATOR(pg_catalog.=) home)];
    other text;
    maker oid;
BEGIN
    SELECT o.name, o.owner INTO other, maker
    FROM (
        SELECT oid::regclass::text AS name, relowner AS owner FROM pg_catalog.pg_class
        WHERE relnamespace OPERATOR(pg_catalog.=) home AND relname::text OPERATOR(pg_catalog.~)
            '^idem_(schema|stream|ledger(_marks|_acts)?|operator|dead_letter(_open|_recent|_request|_asked|_expiry|_key|_topic)?|process|assert|step_refused|fence|key_gen(_open)?|keys|lease(_over|_open|_fence)?|outbox(_letter)?)$'
        UNION ALL SELECT oid::regprocedure::text, proowner FROM pg_catalog.pg_proc
        WHERE pronamespace OPERATOR(pg_catalog.=) home AND proname::text OPERATOR(pg_catalog.~) '^idem_'
        UNION ALL SELECT 'publication idem_outbox', pubowner FROM pg_catalog.pg_publication WHERE pubname OPERATOR(pg_catalog.=) 'idem_outbox'
    ) o
    WHERE NOT EXISTS (SELECT FROM pg_catalog.unnest(trusted) AS t (oid) WHERE pg_catalog.pg_has_role(o.owner, t.oid, 'MEMBER'))
    LIMIT 1;
    IF other IS NOT NULL THEN
        RAISE '% belongs to role %, which neither applies this file nor owns the database or this schema', other, pg_catalog.pg_get_userbyid(maker) USING
            ERRCODE = '42501', HINT = 'If that role applied the migrations of idemgen first, SET ROLE to it, or change the owner. Else drop it: no other role should have CREATE on this schema.';
    END IF;
END $$;
