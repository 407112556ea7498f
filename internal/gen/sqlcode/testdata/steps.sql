DO $do$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'shop') THEN
        CREATE SCHEMA shop;
    END IF;
END $do$;

CREATE TABLE shop."Parent ""x""" (
    "Key" uuid NOT NULL,
    v bigint NOT NULL,
    title varchar(20) NOT NULL DEFAULT 'it''s',
    at timestamptz NOT NULL DEFAULT now(),
    state text NOT NULL,
    CONSTRAINT "Parent ""x""_pkey" PRIMARY KEY ("Key"),
    CONSTRAINT "Parent ""x""_title_key" UNIQUE (title)
);

CREATE TABLE rows (
    id uuid NOT NULL,
    no integer NOT NULL,
    parent uuid,
    "user" text NOT NULL,
    amount numeric(12,2) NOT NULL,
    count bigint NOT NULL DEFAULT 0,
    small smallint,
    ratio double precision NOT NULL,
    doc jsonb,
    words text[] NOT NULL,
    flag boolean NOT NULL DEFAULT false,
    day date,
    raw bytea DEFAULT E'\\x0102',
    ip inet,
    kind char(3),
    CONSTRAINT rows_pkey PRIMARY KEY (id, no),
    CONSTRAINT rows_parent_no_key UNIQUE (parent, no),
    CONSTRAINT rows_parent_fkey FOREIGN KEY (parent) REFERENCES shop."Parent ""x""" ("Key") ON DELETE SET NULL
);
COMMENT ON TABLE rows IS 'Rows of all kinds.';
COMMENT ON COLUMN rows.id IS 'whose it is';

CREATE TABLE children (
    n bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    id uuid NOT NULL,
    no integer NOT NULL,
    sku text NOT NULL,
    price numeric NOT NULL DEFAULT 1.5,
    note text,
    CONSTRAINT children_pkey PRIMARY KEY (n),
    CONSTRAINT children_id_no_fkey FOREIGN KEY (id, no) REFERENCES rows (id, no) ON DELETE CASCADE
);

CREATE TABLE theirs (
    k text NOT NULL,
    seq bigint NOT NULL,
    state shop.state NOT NULL,
    v real,
    CONSTRAINT theirs_pkey PRIMARY KEY (k)
);

CREATE TABLE idem_outbox (
    seq bigint NOT NULL,
    aggregatetype text NOT NULL,
    aggregateid text NOT NULL,
    type text NOT NULL,
    payload bytea,
    trace text NOT NULL,
    CONSTRAINT idem_outbox_pkey PRIMARY KEY (seq)
);
-- external
DO $do$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'shop') THEN
        CREATE SCHEMA shop;
    END IF;
END $do$;

DO $do$ BEGIN
    IF NOT EXISTS (SELECT WHERE to_regtype('shop.state') IS NOT NULL) THEN
        CREATE TYPE shop.state AS ENUM ('open', 'it''s');
    END IF;
END $do$;

DO $do$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'shop') THEN
        CREATE SCHEMA shop;
    END IF;
END $do$;

CREATE TABLE IF NOT EXISTS shop."Parent ""x""" (
    "Key" uuid NOT NULL,
    v bigint NOT NULL,
    title varchar(20) NOT NULL DEFAULT 'it''s',
    at timestamptz NOT NULL DEFAULT now(),
    state text NOT NULL,
    CONSTRAINT "Parent ""x""_pkey" PRIMARY KEY ("Key"),
    CONSTRAINT "Parent ""x""_title_key" UNIQUE (title)
);

CREATE TABLE IF NOT EXISTS rows (
    id uuid NOT NULL,
    no integer NOT NULL,
    parent uuid,
    "user" text NOT NULL,
    amount numeric(12,2) NOT NULL,
    count bigint NOT NULL DEFAULT 0,
    small smallint,
    ratio double precision NOT NULL,
    doc jsonb,
    words text[] NOT NULL,
    flag boolean NOT NULL DEFAULT false,
    day date,
    raw bytea DEFAULT E'\\x0102',
    ip inet,
    kind char(3),
    CONSTRAINT rows_pkey PRIMARY KEY (id, no),
    CONSTRAINT rows_parent_no_key UNIQUE (parent, no),
    CONSTRAINT rows_parent_fkey FOREIGN KEY (parent) REFERENCES shop."Parent ""x""" ("Key") ON DELETE SET NULL
);

CREATE TABLE IF NOT EXISTS children (
    n bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    id uuid NOT NULL,
    no integer NOT NULL,
    sku text NOT NULL,
    price numeric NOT NULL DEFAULT 1.5,
    note text,
    CONSTRAINT children_pkey PRIMARY KEY (n),
    CONSTRAINT children_id_no_fkey FOREIGN KEY (id, no) REFERENCES rows (id, no) ON DELETE CASCADE
);

CREATE TABLE IF NOT EXISTS theirs (
    k text NOT NULL,
    seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    state shop.state NOT NULL,
    v real,
    CONSTRAINT theirs_pkey PRIMARY KEY (k)
);

CREATE TABLE IF NOT EXISTS idem_outbox (
    seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    aggregatetype text NOT NULL,
    aggregateid text NOT NULL,
    type text NOT NULL,
    payload bytea,
    trace text NOT NULL,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    CONSTRAINT idem_outbox_pkey PRIMARY KEY (seq)
);
ALTER TABLE shop."Parent ""x""" ADD COLUMN "Key" uuid NOT NULL;ALTER TABLE shop."Parent ""x""" ADD COLUMN v bigint NOT NULL;ALTER TABLE shop."Parent ""x""" ADD COLUMN title varchar(20) NOT NULL DEFAULT 'it''s';ALTER TABLE shop."Parent ""x""" ADD COLUMN at timestamptz NOT NULL DEFAULT now();ALTER TABLE shop."Parent ""x""" ADD COLUMN state text NOT NULL;ALTER TABLE shop."Parent ""x""" ADD CONSTRAINT "Parent ""x""_title_key" UNIQUE (title);ALTER TABLE rows ADD COLUMN id uuid NOT NULL;
COMMENT ON COLUMN rows.id IS 'whose it is';ALTER TABLE rows ADD COLUMN no integer NOT NULL;ALTER TABLE rows ADD COLUMN parent uuid;ALTER TABLE rows ADD COLUMN "user" text NOT NULL;ALTER TABLE rows ADD COLUMN amount numeric(12,2) NOT NULL;ALTER TABLE rows ADD COLUMN count bigint NOT NULL DEFAULT 0;ALTER TABLE rows ADD COLUMN small smallint;ALTER TABLE rows ADD COLUMN ratio double precision NOT NULL;ALTER TABLE rows ADD COLUMN doc jsonb;ALTER TABLE rows ADD COLUMN words text[] NOT NULL;ALTER TABLE rows ADD COLUMN flag boolean NOT NULL DEFAULT false;ALTER TABLE rows ADD COLUMN day date;ALTER TABLE rows ADD COLUMN raw bytea DEFAULT E'\\x0102';ALTER TABLE rows ADD COLUMN ip inet;ALTER TABLE rows ADD COLUMN kind char(3);ALTER TABLE rows ADD CONSTRAINT rows_parent_no_key UNIQUE (parent, no);ALTER TABLE rows ADD CONSTRAINT rows_parent_fkey FOREIGN KEY (parent) REFERENCES shop."Parent ""x""" ("Key") ON DELETE SET NULL;ALTER TABLE children ADD COLUMN n bigint NOT NULL GENERATED ALWAYS AS IDENTITY;ALTER TABLE children ADD COLUMN id uuid NOT NULL;ALTER TABLE children ADD COLUMN no integer NOT NULL;ALTER TABLE children ADD COLUMN sku text NOT NULL;ALTER TABLE children ADD COLUMN price numeric NOT NULL DEFAULT 1.5;ALTER TABLE children ADD COLUMN note text;ALTER TABLE children ADD CONSTRAINT children_id_no_fkey FOREIGN KEY (id, no) REFERENCES rows (id, no) ON DELETE CASCADE;ALTER TABLE theirs ADD COLUMN k text NOT NULL;ALTER TABLE theirs ADD COLUMN seq bigint NOT NULL;ALTER TABLE theirs ADD COLUMN state shop.state NOT NULL;ALTER TABLE theirs ADD COLUMN v real;ALTER TABLE idem_outbox ADD COLUMN seq bigint NOT NULL;ALTER TABLE idem_outbox ADD COLUMN aggregatetype text NOT NULL;ALTER TABLE idem_outbox ADD COLUMN aggregateid text NOT NULL;ALTER TABLE idem_outbox ADD COLUMN type text NOT NULL;ALTER TABLE idem_outbox ADD COLUMN payload bytea;ALTER TABLE idem_outbox ADD COLUMN trace text NOT NULL;
-- ParentUpsertParents
WITH w AS (
    INSERT INTO shop."Parent ""x""" (
        "Key",
        v,
        title,
        at,
        state
    )
    SELECT
        unnest($1::uuid[]) AS "Key",
        unnest($2::bigint[]) AS v,
        unnest($3::text[]) AS title,
        now() AS at,
        unnest($4::text[]) AS state
    ORDER BY "Key"
    ON CONFLICT ("Key") DO UPDATE SET
        v = excluded.v,
        title = excluded.title,
        state = excluded.state
    RETURNING true
)
INSERT INTO idem_step_refused (reason, in_table)
SELECT
    'the database did not write the row',
    'parents'
WHERE (SELECT count(*) FROM w) < cardinality($1)

-- TitleUpdateParents
WITH e AS (
    SELECT
        unnest($1::uuid[]) AS "Key",
        unnest($2::text[]) AS title
)
UPDATE shop."Parent ""x""" AS t SET
    title = e.title
FROM e
WHERE t."Key" = e."Key"

-- TitleUpdateParents2
WITH e AS (
    SELECT
        *,
        row_number() OVER () AS n
    FROM (
        SELECT
            unnest($1::uuid[]) AS "Key",
            unnest($2::bigint[]) AS v
    ) AS e
),
u AS (
    UPDATE shop."Parent ""x""" AS t SET
        state = 'it''s'
    FROM e
    WHERE t."Key" = e."Key"
        AND t.v = e.v
    RETURNING e.n
)
INSERT INTO idem_step_refused (reason, in_table)
SELECT
    'no row with this key that meets where',
    'parents'
FROM e
WHERE NOT EXISTS (SELECT FROM u WHERE u.n = e.n)

-- EnsureInsertRows
INSERT INTO rows (
    id,
    no,
    parent,
    "user",
    amount,
    small,
    ratio,
    doc,
    words,
    day,
    raw,
    ip,
    kind
)
SELECT
    unnest($1::uuid[]) AS id,
    unnest($2::integer[]) AS no,
    NULL::uuid AS parent,
    unnest($3::text[]) AS "user",
    1.5 AS amount,
    NULL::smallint AS small,
    0.5 AS ratio,
    NULL::jsonb AS doc,
    '{}'::text[] AS words,
    NULL::date AS day,
    NULL::bytea AS raw,
    NULL::inet AS ip,
    NULL::bpchar AS kind
ORDER BY id, no
ON CONFLICT (id, no) DO NOTHING

-- MustInsertRows
WITH w AS (
    INSERT INTO rows (
        id,
        no,
        parent,
        "user",
        amount,
        small,
        ratio,
        doc,
        words,
        day,
        raw,
        ip,
        kind
    )
    SELECT
        unnest($1::uuid[]) AS id,
        unnest($2::integer[]) AS no,
        NULL::uuid AS parent,
        unnest($3::text[]) AS "user",
        1.5 AS amount,
        NULL::smallint AS small,
        0.5 AS ratio,
        NULL::jsonb AS doc,
        '{}'::text[] AS words,
        '2026-01-02'::date AS day,
        E'\\x0102'::bytea AS raw,
        NULL::inet AS ip,
        NULL::bpchar AS kind
    ORDER BY id, no
    RETURNING true
)
INSERT INTO idem_step_refused (reason, in_table)
SELECT
    'the database did not write the row',
    'rows'
WHERE (SELECT count(*) FROM w) < cardinality($1)

-- RowUpsertRows
WITH w AS (
    INSERT INTO rows (
        id,
        no,
        parent,
        "user",
        amount,
        small,
        ratio,
        doc,
        words,
        flag,
        day,
        ip,
        kind
    )
    SELECT
        unnest($1::uuid[]) AS id,
        unnest($2::integer[]) AS no,
        unnest($3::uuid[]) AS parent,
        unnest($4::text[]) AS "user",
        unnest($5::numeric[]) AS amount,
        unnest($6::integer[])::smallint AS small,
        unnest($7::double precision[]) AS ratio,
        unnest($8::jsonb[]) AS doc,
        unnest($9::text[])::text[] AS words,
        true AS flag,
        unnest($10::date[]) AS day,
        unnest($11::text[])::inet AS ip,
        unnest($12::text[])::bpchar AS kind
    ORDER BY id, no
    ON CONFLICT (id, no) DO UPDATE SET
        parent = excluded.parent,
        "user" = excluded."user",
        small = excluded.small,
        ratio = excluded.ratio,
        doc = excluded.doc,
        words = excluded.words,
        flag = excluded.flag,
        day = excluded.day,
        ip = excluded.ip,
        kind = excluded.kind
    RETURNING true
)
INSERT INTO idem_step_refused (reason, in_table)
SELECT
    'the database did not write the row',
    'rows'
WHERE (SELECT count(*) FROM w) < cardinality($1)

-- CountNewAddRows
WITH e AS (
    SELECT DISTINCT ON (id, no)
        id,
        no,
        sum(count) OVER (PARTITION BY id, no) AS count,
        "user"
    FROM unnest($1::uuid[], $2::integer[], $3::text[], $4::bigint[]) WITH ORDINALITY AS e (id, no, "user", count, ordinal)
    ORDER BY id, no, ordinal
),
u AS (
    UPDATE rows AS t SET
        count = t.count + e.count
    FROM e
    WHERE t.id = e.id
        AND t.no = e.no
    RETURNING
        t.id,
        t.no
),
w AS (
    INSERT INTO rows AS t (
        id,
        no,
        parent,
        "user",
        amount,
        count,
        small,
        ratio,
        doc,
        words,
        day,
        raw,
        ip,
        kind
    )
    SELECT
        id,
        no,
        NULL::uuid AS parent,
        "user",
        1 AS amount,
        count,
        NULL::smallint AS small,
        1 AS ratio,
        NULL::jsonb AS doc,
        '{}'::text[] AS words,
        NULL::date AS day,
        NULL::bytea AS raw,
        NULL::inet AS ip,
        NULL::bpchar AS kind
    FROM e
    WHERE NOT EXISTS (SELECT FROM u WHERE u.id = e.id AND u.no = e.no)
    ORDER BY id, no
    ON CONFLICT (id, no) DO UPDATE SET
        count = t.count + excluded.count
    RETURNING true
)
INSERT INTO idem_step_refused (reason, in_table)
SELECT
    'the database did not write the row',
    'rows'
WHERE (SELECT count(*) FROM w) + (SELECT count(*) FROM u) < (SELECT count(*) FROM e)

-- CountAddRows
WITH e AS (
    SELECT
        id,
        no,
        -sum(1) AS amount,
        sum(count) AS count
    FROM unnest($1::uuid[], $2::integer[], $3::bigint[]) AS e (id, no, count)
    GROUP BY id, no
),
u AS (
    UPDATE rows AS t SET
        amount = t.amount + e.amount,
        count = t.count + e.count
    FROM e
    WHERE t.id = e.id
        AND t.no = e.no
    RETURNING
        t.id,
        t.no
)
INSERT INTO idem_step_refused (reason, in_table)
SELECT
    'no row with this key',
    'rows'
FROM e
WHERE NOT EXISTS (SELECT FROM u WHERE u.id = e.id AND u.no = e.no)

-- CountSomeAddRows
WITH e AS (
    SELECT
        id,
        no,
        -sum(count) AS count
    FROM unnest($1::uuid[], $2::integer[], $3::bigint[]) AS e (id, no, count)
    GROUP BY id, no
)
UPDATE rows AS t SET
    count = t.count + e.count
FROM e
WHERE t.id = e.id
    AND t.no = e.no

-- RowNoUpdateRows
WITH e AS (
    SELECT
        *,
        row_number() OVER () AS n
    FROM (
        SELECT
            unnest($1::uuid[]) AS id,
            unnest($2::integer[]) AS no,
            unnest($3::text[]) AS "user"
    ) AS e
),
u AS (
    UPDATE rows AS t SET
        "user" = e."user",
        doc = NULL,
        flag = false,
        raw = NULL
    FROM e
    WHERE t.id = e.id
        AND t.no = e.no
    RETURNING e.n
)
INSERT INTO idem_step_refused (reason, in_table)
SELECT
    'no row with this key',
    'rows'
FROM e
WHERE NOT EXISTS (SELECT FROM u WHERE u.n = e.n)

-- PatchUpdateRows
WITH e AS (
    SELECT
        *,
        row_number() OVER () AS n
    FROM (
        SELECT
            unnest($1::uuid[]) AS id,
            unnest($2::integer[]) AS no,
            unnest($3::text[]) AS "user",
            unnest($4::boolean[]) AS user_sent,
            unnest($5::integer[])::smallint AS small,
            unnest($6::boolean[]) AS small_sent
    ) AS e
),
u AS (
    UPDATE rows AS t SET
        "user" = CASE WHEN e.user_sent THEN e."user" ELSE t."user" END,
        small = CASE WHEN e.small_sent THEN e.small ELSE t.small END
    FROM e
    WHERE t.id = e.id
        AND t.no = e.no
    RETURNING e.n
)
INSERT INTO idem_step_refused (reason, in_table)
SELECT
    'no row with this key',
    'rows'
FROM e
WHERE NOT EXISTS (SELECT FROM u WHERE u.n = e.n)

-- PartsAgainUpdateRows
WITH e AS (
    SELECT
        unnest($1::uuid[]) AS id,
        unnest($2::integer[]) AS no
)
UPDATE rows AS t SET
    day = '2026-01-02'
FROM e
WHERE t.id = e.id
    AND t.no = e.no

-- NumbersUpdateRows
WITH e AS (
    SELECT
        *,
        row_number() OVER () AS n
    FROM (
        SELECT
            unnest($1::uuid[]) AS id,
            unnest($2::integer[]) AS no,
            unnest($3::integer[])::smallint AS small
    ) AS e
),
u AS (
    UPDATE rows AS t SET
        small = e.small
    FROM e
    WHERE t.id = e.id
        AND t.no = e.no
    RETURNING e.n
)
INSERT INTO idem_step_refused (reason, in_table)
SELECT
    'no row with this key',
    'rows'
FROM e
WHERE NOT EXISTS (SELECT FROM u WHERE u.n = e.n)

-- PartsInsertChildren
WITH w AS (
    INSERT INTO children (
        id,
        no,
        sku,
        price,
        note
    )
    SELECT
        unnest($1::uuid[]) AS id,
        unnest($2::integer[]) AS no,
        unnest($3::text[]) AS sku,
        unnest($4::numeric[]) AS price,
        unnest($5::text[]) AS note
    ORDER BY generate_subscripts($1::uuid[], 1)
    RETURNING true
)
INSERT INTO idem_step_refused (reason, in_table)
SELECT
    'the database did not write the row',
    'children'
WHERE (SELECT count(*) FROM w) < cardinality($1)

-- GoneDeleteRows
WITH e AS (
    SELECT
        unnest($1::uuid[]) AS id
),
d AS (
    DELETE FROM rows AS t
    USING e
    WHERE t.id = e.id
    RETURNING true
)
INSERT INTO idem_step_refused (reason, in_table)
SELECT
    'the database did not delete the row',
    'rows'
WHERE CASE WHEN (SELECT count(*) FROM d) >= 0 THEN idem_left('SELECT FROM rows AS t, (SELECT unnest(($1)[1]::uuid[]) AS id) AS e WHERE t.id = e.id', $1::uuid[]::text) END

-- PartsAgainDeleteRows
WITH e AS (
    SELECT
        unnest($1::uuid[]) AS id,
        unnest($2::integer[]) AS no
),
d AS (
    DELETE FROM rows AS t
    USING e
    WHERE t.id = e.id
        AND t.no = e.no
    RETURNING true
)
INSERT INTO idem_step_refused (reason, in_table)
SELECT
    'the database did not delete the row',
    'rows'
WHERE CASE WHEN (SELECT count(*) FROM d) < cardinality($1) THEN idem_left('SELECT FROM rows AS t, (SELECT unnest(($1)[1]::uuid[]) AS id, unnest(($1)[2]::integer[]) AS no) AS e WHERE t.id = e.id AND t.no = e.no', $1::uuid[]::text, $2::integer[]::text) END

-- GoneDeleteParents
WITH e AS (
    SELECT
        unnest($1::uuid[]) AS "Key"
),
d AS (
    DELETE FROM shop."Parent ""x""" AS t
    USING e
    WHERE t."Key" = e."Key"
    RETURNING true
)
INSERT INTO idem_step_refused (reason, in_table)
SELECT
    'the database did not delete the row',
    'parents'
WHERE CASE WHEN (SELECT count(*) FROM d) < cardinality($1) THEN idem_left('SELECT FROM shop."Parent ""x""" AS t, (SELECT unnest(($1)[1]::uuid[]) AS "Key") AS e WHERE t."Key" = e."Key"', $1::uuid[]::text) END

-- TheirsInsertTheirs
INSERT INTO theirs (
    k,
    state,
    v
)
SELECT
    unnest($1::text[]) AS k,
    unnest($2::text[])::shop.state AS state,
    NULL::real AS v
ORDER BY k
ON CONFLICT (k) DO NOTHING

-- OutInsertIdemOutbox
WITH w AS (
    INSERT INTO idem_outbox (
        aggregatetype,
        aggregateid,
        type,
        payload,
        trace,
        id
    )
    SELECT
        'out' AS aggregatetype,
        unnest($1::text[]) AS aggregateid,
        't' AS type,
        unnest($2::bytea[]) AS payload,
        'x' AS trace,
        unnest($3::uuid[]) AS id
    ORDER BY generate_subscripts($1::text[], 1)
    RETURNING true
)
INSERT INTO idem_step_refused (reason, in_table)
SELECT
    'the database did not write the row',
    'idem_outbox'
WHERE (SELECT count(*) FROM w) < cardinality($1)
