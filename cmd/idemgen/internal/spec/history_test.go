package spec

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// history is a service while its tables change, version by version.
const history = golden + "/history"

// historySpecs are its specs, in order.
func historySpecs(t *testing.T) (specs []string) {
	t.Helper()
	files, err := filepath.Glob(history + "/v*/idemgen.yaml")
	if err != nil || len(files) != 4 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		specs = append(specs, read(t, f))
	}
	return specs
}

// appended are the files of the migrations folder that seen does not hold yet.
func appended(t *testing.T, seen map[string]bool) (names []string) {
	t.Helper()
	files, err := os.ReadDir("migrations")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !seen[f.Name()] {
			seen[f.Name()] = true
			names = append(names, f.Name())
		}
	}
	return names
}

// rowsOfHistory are there while the tables change.
const rowsOfHistory = `INSERT INTO orders (order_id, customer, total, pieces, note)
    VALUES (gen_random_uuid(), 'c1', 12.5, 3, 'x'), (gen_random_uuid(), 'c2', 0.01, 4, 'y');
INSERT INTO visits (order_id) SELECT order_id FROM orders`

// What each version of a service appends, in each format, is what its folder holds, and so are the
// warnings. Applied in order to a database with rows, each step leaves what a new database gets
// from the newest spec.
func TestGoldenHistory(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	specs := historySpecs(t)
	root, err := filepath.Abs(history)
	if err != nil {
		t.Fatal(err)
	}
	fresh := make([]string, len(specs)) // the catalog of a new database, by version
	for _, format := range []string{"sql", "goose", "golang_migrate"} {
		t.Run(format, func(t *testing.T) {
			grown := idemtest.DB(t)
			seen := map[string]bool{}
			module(t, map[string]string{"idemgen.yaml": ""})
			for i, text := range specs {
				dir := filepath.Join(root, fmt.Sprintf("v%02d", i+1), format)
				write(t, "idemgen.yaml", strings.Replace(text, "\ntables:", "\nmigrations: {format: "+format+"}\n\ntables:", 1))
				code, _, warnings := run(t, "generate")
				if code != done {
					t.Fatalf("%s: exit code %d\n%s", dir, code, warnings)
				}
				same(t, filepath.Join(dir, "warnings.txt"), warnings)
				step := t.TempDir()
				names := appended(t, seen)
				for _, name := range names {
					write(t, filepath.Join(step, name), read(t, "migrations/"+name))
					if !strings.Contains(name, "_idem_") {
						same(t, filepath.Join(dir, name), read(t, "migrations/"+name))
					}
				}
				onlyThese(t, dir, names)
				idemtest.Migrate(t, grown, step)
				if i == 0 {
					idemtest.Exec(t, grown, rowsOfHistory)
				}
				if fresh[i] == "" {
					fresh[i] = freshCatalog(t, text)
				}
				if got := catalog(t, grown); got != fresh[i] {
					t.Fatalf("%s: the catalog differs from that of a new database:\n%s\nwant\n%s", dir, got, fresh[i])
				}
			}
			var rows int
			if err := grown.QueryRow(t.Context(), "SELECT count(*) FROM orders JOIN visits USING (order_id) WHERE total > 0 AND channel IS NULL").Scan(&rows); err != nil || rows != 2 {
				t.Errorf("%d rows of the first version are there (%v)", rows, err)
			}
		})
	}
}

// onlyThese fails if a golden folder holds a migration that is not appended any more.
func onlyThese(t *testing.T, dir string, names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !slices.Contains(names, filepath.Base(f)) {
			t.Errorf("%s is not appended any more: delete it", f)
		}
	}
}

// freshCatalog is the catalog of a database that was made from a spec at once.
func freshCatalog(t *testing.T, text string) string {
	t.Helper()
	back, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	defer t.Chdir(back)
	module(t, map[string]string{"idemgen.yaml": text})
	must(t, "generate")
	db := idemtest.DB(t)
	idemtest.Migrate(t, db, "migrations")
	return catalog(t, db)
}

// catalog is what Postgres knows of the tables, but for the order of columns.
func catalog(t *testing.T, db *pgxpool.Pool) string {
	t.Helper()
	var text string
	err := db.QueryRow(t.Context(), `
WITH ours AS (SELECT oid, relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname NOT LIKE 'idem\_%' AND relkind IN ('r', 'S', 'i')),
facts AS (
    SELECT format('%s.%s %s%s%s default %s', o.relname, a.attname, format_type(a.atttypid, a.atttypmod),
        CASE WHEN a.attnotnull THEN ' not null' END, CASE a.attidentity WHEN 'a' THEN ' identity' END, pg_get_expr(d.adbin, d.adrelid)) AS fact
    FROM ours o JOIN pg_class c USING (oid) JOIN pg_attribute a ON a.attrelid = o.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN pg_attrdef d ON d.adrelid = o.oid AND d.adnum = a.attnum
    WHERE c.relkind = 'r'
    UNION ALL
    SELECT format('%s: %s%s', n.conname, pg_get_constraintdef(n.oid), CASE WHEN NOT n.convalidated THEN ' not validated' END)
    FROM pg_constraint n JOIN ours o ON o.oid = n.conrelid WHERE n.contype <> 'n'
    UNION ALL
    SELECT format('%s %s', pg_get_indexdef(i.indexrelid), CASE WHEN NOT i.indisvalid THEN 'not valid' END)
    FROM pg_index i JOIN ours o ON o.oid = i.indrelid
    UNION ALL
    SELECT format('sequence %s of %s.%s: %s', s.relname, r.relname, a.attname, format_type(q.seqtypid, NULL))
    FROM ours s JOIN pg_sequence q ON q.seqrelid = s.oid JOIN pg_depend p ON p.objid = s.oid AND p.deptype = 'i'
        JOIN pg_class r ON r.oid = p.refobjid JOIN pg_attribute a ON a.attrelid = p.refobjid AND a.attnum = p.refobjsubid
    UNION ALL
    SELECT format('comment on %s %s: %s', o.relname, c.objsubid, c.description) FROM pg_description c JOIN ours o ON o.oid = c.objoid AND c.classoid = 'pg_class'::regclass
)
SELECT string_agg(fact, E'\n' ORDER BY fact COLLATE "C") FROM facts`).Scan(&text)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
