package catalog_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/catalog"
	"github.com/idemgen/idemgen/runtime/wire"
)

// tables are what the cases below change: p is the parent of c.
const tables = `
CREATE TABLE p (id text PRIMARY KEY, v text NOT NULL, note text, UNIQUE (v));
CREATE TABLE c (a int, b text, PRIMARY KEY (a, b), p text REFERENCES p (id) ON DELETE CASCADE);
CREATE INDEX ON c (p);
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
`

var spec = []wire.Table{
	{Name: "p", Unique: [][]string{{"id"}, {"v"}}, Columns: []wire.Column{{Name: "note", Nullable: true}}},
	{Name: "c", Unique: [][]string{{"b", "a"}}, Columns: []wire.Column{{Name: "p", Nullable: true}}, References: []wire.Reference{{Columns: []string{"p"}, Table: "p", OnDelete: "cascade"}}, Rights: []string{"INSERT"}},
}

// What follows from what others did to the tables. "-" is nothing.
func TestVerdicts(t *testing.T) {
	db := idemtest.DB(t)
	idemtest.Migrate(t, db, "../../../templates/sql")
	for name, c := range map[string]struct{ sql, want string }{
		"as in the spec":                   {`SELECT`, "-"},
		"all names quoted":                 {`SET LOCAL quote_all_identifiers = on`, "-"},
		"another plain index":              {`CREATE INDEX ON p (note)`, "-"},
		"known key by another order":       {`ALTER TABLE c DROP CONSTRAINT c_pkey; CREATE UNIQUE INDEX ON c (b, a)`, "-"},
		"new column":                       {`ALTER TABLE p ADD more text`, "-"},
		"trigger":                          {`CREATE TRIGGER x AFTER INSERT ON p FOR EACH ROW EXECUTE FUNCTION f()`, "p records: trigger x"},
		"statement trigger":                {`CREATE TRIGGER x AFTER INSERT ON p EXECUTE FUNCTION f()`, "p records: trigger x"},
		"disabled trigger":                 {`CREATE TRIGGER x AFTER INSERT ON p FOR EACH ROW EXECUTE FUNCTION f(); ALTER TABLE p DISABLE TRIGGER x`, "-"},
		"rule":                             {`CREATE RULE x AS ON DELETE TO p DO ALSO SELECT 1`, "p records: rule x"},
		"check":                            {`ALTER TABLE p ADD CONSTRAINT x CHECK (v <> '') NOT VALID`, "p rows: check constraint x"},
		"check of a child":                 {`CREATE TABLE q (CONSTRAINT x CHECK (v <> '')) INHERITS (p)`, "p rows: check constraint x"},
		"nullable in the spec only":        {`ALTER TABLE p ALTER note SET NOT NULL`, "p rows: column note is NOT NULL, but nullable in the spec"},
		"domain":                           {`CREATE DOMAIN d AS text; ALTER TABLE p ALTER note TYPE d`, "p rows: column note has a domain or composite type"},
		"array of a domain":                {`CREATE DOMAIN d AS text; ALTER TABLE p ADD more d[]`, "p rows: column more has a domain or composite type"},
		"generated column":                 {`ALTER TABLE p ADD n int GENERATED ALWAYS AS (1 / length(v)) STORED`, "p rows: n is computed"},
		"index of an expression":           {`CREATE INDEX x ON p (lower(v))`, "p rows: x is computed"},
		"unique key of an insert only":     {`CREATE UNIQUE INDEX x ON c (p)`, "-"},
		"unique key":                       {`CREATE UNIQUE INDEX x ON p (note)`, "p table: unique index or exclusion x is not in the spec"},
		"unique key with a further column": {`CREATE UNIQUE INDEX x ON p (id, note)`, "p table: unique index or exclusion x is not in the spec"},
		"covering unique key":              {`CREATE UNIQUE INDEX x ON p (id) INCLUDE (note)`, "-"},
		"partial unique key":               {`CREATE UNIQUE INDEX x ON p (id) WHERE v <> ''`, "p rows: x is computed; p table: unique index or exclusion x is not in the spec"},
		"exclusion":                        {`ALTER TABLE p ADD CONSTRAINT x EXCLUDE USING btree (note WITH =)`, "p table: unique index or exclusion x is not in the spec"},
		"loose collation of a key": {`CREATE COLLATION l (provider = icu, locale = 'und-u-ks-level2', deterministic = false); ALTER TABLE p ALTER v TYPE text COLLATE l`,
			"p table: key column v has collation l"},
		"loose collation beside the key":          {`CREATE COLLATION l (provider = icu, locale = 'und-u-ks-level2', deterministic = false); ALTER TABLE p ALTER note TYPE text COLLATE l`, "-"},
		"loose type of a key":                     {`ALTER TABLE c ALTER a TYPE numeric`, "c table: key column a has type numeric"},
		"foreign key":                             {`ALTER TABLE p ADD CONSTRAINT x FOREIGN KEY (note) REFERENCES p (id)`, "p records: foreign key x is not in the spec in this form"},
		"foreign key to elsewhere":                {`CREATE TABLE o (id text PRIMARY KEY); ALTER TABLE p ADD FOREIGN KEY (note) REFERENCES o (id)`, "-"},
		"foreign key to what only refers to ours": {`CREATE TABLE o (id text PRIMARY KEY, p text REFERENCES p (id)); ALTER TABLE c ADD CONSTRAINT x FOREIGN KEY (b) REFERENCES o (id) ON DELETE CASCADE`, "-"},
		"foreign key to what goes with ours": {`CREATE TABLE o (id text PRIMARY KEY, p text REFERENCES p (id) ON DELETE CASCADE); ALTER TABLE c ADD CONSTRAINT x FOREIGN KEY (b) REFERENCES o (id) ON DELETE CASCADE`,
			"c records: foreign key x is not in the spec in this form"},
		"foreign key to what goes with ours, further away": {`CREATE TABLE o (id text PRIMARY KEY, p text REFERENCES p (id) ON DELETE CASCADE); CREATE TABLE q (id text PRIMARY KEY, o text REFERENCES o (id) ON DELETE CASCADE);
ALTER TABLE c ADD CONSTRAINT x FOREIGN KEY (b) REFERENCES q (id)`, "c records: foreign key x is not in the spec in this form"},
		"foreign key with another action": {`ALTER TABLE c DROP CONSTRAINT c_p_fkey, ADD CONSTRAINT x FOREIGN KEY (p) REFERENCES p (id) ON DELETE SET NULL`,
			"c records: foreign key x is not in the spec in this form"},
		"foreign key of NO ACTION":    {`ALTER TABLE c DROP CONSTRAINT c_p_fkey, ADD CONSTRAINT x FOREIGN KEY (p) REFERENCES p (id)`, "c records: foreign key x is not in the spec in this form"},
		"deferred foreign key":        {`ALTER TABLE c ALTER CONSTRAINT c_p_fkey DEFERRABLE INITIALLY DEFERRED`, "c warning: constraint c_p_fkey is checked only at commit: what it rejects may depend on which records share a transaction"},
		"deferrable foreign key":      {`ALTER TABLE c ALTER CONSTRAINT c_p_fkey DEFERRABLE`, "-"},
		"deferred constraint trigger": {`CREATE CONSTRAINT TRIGGER x AFTER INSERT ON p DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION f()`, "p records: trigger x; p warning: constraint x is checked only at commit: what it rejects may depend on which records share a transaction"},
		"view":                        {`ALTER TABLE p RENAME TO q; CREATE VIEW p AS SELECT * FROM q`, "p records: it is a view"},
		"partitions": {`DROP TABLE c; CREATE TABLE c (a int, b text, PRIMARY KEY (a, b), p text REFERENCES p (id) ON DELETE CASCADE) PARTITION BY LIST (a);
CREATE TABLE c_1 PARTITION OF c FOR VALUES IN (1) PARTITION BY LIST (b); CREATE TABLE c_1_1 PARTITION OF c_1 DEFAULT`, "-"},
		"trigger of a partition's partition": {`DROP TABLE c; CREATE TABLE c (a int, b text, p text, PRIMARY KEY (a, b)) PARTITION BY LIST (a);
CREATE TABLE c_1 PARTITION OF c FOR VALUES IN (1) PARTITION BY LIST (b); CREATE TABLE c_1_1 PARTITION OF c_1 DEFAULT;
CREATE TRIGGER x AFTER INSERT ON c_1_1 FOR EACH ROW EXECUTE FUNCTION f()`, "c records: trigger x"},
		"unlogged": {`DROP TABLE c; ALTER TABLE p SET UNLOGGED`, "refused: table public.p is unlogged"},
		"unlogged partition": {`DROP TABLE c; CREATE TABLE c (a int, b text, p text, PRIMARY KEY (a, b)) PARTITION BY LIST (a); CREATE UNLOGGED TABLE c_1 PARTITION OF c DEFAULT`,
			"refused: table public.c_1 is unlogged"},
		"temporary":               {`CREATE TEMPORARY TABLE p (id text PRIMARY KEY)`, "refused: table pg_temp.p is temporary"},
		"foreign table":           {`DROP TABLE c, p; CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; CREATE FOREIGN TABLE p (id text) SERVER s`, "refused: table public.p is a foreign table"},
		"unlogged ledger":         {`ALTER TABLE idem_ledger SET UNLOGGED`, "refused: the runtime's table public.idem_ledger is unlogged"},
		"a view of leases":        {`ALTER TABLE idem_lease RENAME TO l; CREATE VIEW idem_lease AS SELECT * FROM l`, "refused: idem_lease is not a table"},
		"unlogged keys":           {`CREATE UNLOGGED TABLE idem_keys_1 PARTITION OF idem_keys FOR VALUES IN (1)`, "refused: the runtime's table public.idem_keys_1 is unlogged"},
		"Citus, for other tables": {ofCitus(`o`), "-"},
		"a table of Citus":        {ofCitus(`c`), "refused: table public.c is a table of Citus (pg_dist_partition lists it)"},
		"a partition of Citus": {`DROP TABLE c; CREATE TABLE c (a int, b text, p text, PRIMARY KEY (a, b)) PARTITION BY LIST (a); CREATE TABLE c_1 PARTITION OF c DEFAULT; ` + ofCitus(`c_1`),
			"refused: table public.c_1 is a table of Citus (pg_dist_partition lists it)"},
		"a ledger of Citus":  {ofCitus(`idem_ledger`), "refused: the runtime's table public.idem_ledger is a table of Citus (pg_dist_partition lists it)"},
		"asserts of Citus":   {ofCitus(`idem_assert`), "refused: the runtime's table public.idem_assert is a table of Citus (pg_dist_partition lists it)"},
		"an outbox of Citus": {`CREATE TABLE idem_outbox (id int); ` + ofCitus(`idem_outbox`), "refused: the runtime's table public.idem_outbox is a table of Citus (pg_dist_partition lists it)"},
		"a list of no Citus": {`CREATE TABLE pg_dist_partition (logicalrelid regclass); INSERT INTO pg_dist_partition VALUES ('c')`, "-"},
		"row security": {`CREATE ROLE idemgen_test_catalog; GRANT ALL ON SCHEMA public TO idemgen_test_catalog; ALTER TABLE p ENABLE ROW LEVEL SECURITY; SET ROLE idemgen_test_catalog`,
			"p records: row level security; p warning: row level security may hide rows from this role: a delete of a hidden row does nothing, and an update does not find it"},
		"row security of others": {`ALTER TABLE p ENABLE ROW LEVEL SECURITY`, "-"}, // a superuser is not subject to it
		"another schema": {`CREATE SCHEMA s; SET search_path = s, public; CREATE TABLE s.p (id text PRIMARY KEY, v text UNIQUE CHECK (v <> ''), note text)`,
			"p rows: check constraint p_v_check"},
		"no tables": {`DROP TABLE c, p`, "-"},
	} {
		t.Run(name, func(t *testing.T) {
			tx, err := db.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback(context.WithoutCancel(t.Context()))
			if _, err := tx.Exec(t.Context(), tables+c.sql); err != nil {
				t.Fatal(err)
			}
			found, err := catalog.Read(t.Context(), tx.Conn(), spec)
			if err != nil {
				t.Fatal(err)
			}
			if got := said(found); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// ofCitus makes the list that the extension Citus has of its tables, with one table.
func ofCitus(table string) string {
	return fmt.Sprintf(`SET LOCAL allow_system_table_mods = on; CREATE TABLE IF NOT EXISTS o (id text PRIMARY KEY);
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass PRIMARY KEY); INSERT INTO pg_catalog.pg_dist_partition VALUES ('%s')`, table)
}

var temporary = regexp.MustCompile(`pg_temp_[0-9]+\.`)

func said(found catalog.Findings) string {
	if found.Refused != nil {
		reason, _, _ := strings.Cut(found.Refused.Error(), ": ")
		return "refused: " + temporary.ReplaceAllString(reason, "pg_temp.")
	}
	var all []string
	for _, r := range found.Why {
		all = append(all, fmt.Sprintf("%s %s: %s", r.Table, r.Apart, r.Fact))
	}
	for _, r := range found.Warnings {
		all = append(all, fmt.Sprintf("%s warning: %s", r.Table, r.Fact))
	}
	if all == nil {
		return "-"
	}
	return strings.Join(all, "; ")
}
