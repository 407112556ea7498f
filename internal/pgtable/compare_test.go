package pgtable_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/pgtable"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// failing is a database that fails to answer one query.
type failing struct {
	pgtable.Querier
	left int // queries that it answers before
}

func (f *failing) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if f.left--; f.left == -1 {
		gone, cancel := context.WithCancel(ctx)
		cancel()
		ctx = gone
	}
	return f.Querier.Query(ctx, sql, args...)
}

// said returns differences as they are told.
func said(all []pgtable.Difference) (texts []string) {
	for _, d := range all {
		texts = append(texts, d.Err().Error())
	}
	return texts
}

// A table is compared with what a spec says of it; one that is missing is looked for. Whichever
// question has no answer, there is no result.
func TestCompareNeedsAllAnswers(t *testing.T) {
	t.Parallel()
	db := idemtest.DB(t)
	role := "compares_" + db.Config().ConnConfig.Database
	idemtest.Exec(t, db, `CREATE ROLE "`+role+`"; CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL, w int NOT NULL DEFAULT 1, x int);
CREATE TABLE filled (id int PRIMARY KEY, v int NOT NULL);
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER fills BEFORE INSERT ON filled FOR EACH ROW EXECUTE FUNCTION fill();
CREATE VIEW seen AS SELECT * FROM t;
CREATE SCHEMA a; CREATE SCHEMA b; CREATE SCHEMA c; CREATE TABLE a.away (id int); CREATE TABLE b.away (id int); CREATE TABLE c.hidden (id int); CREATE TABLE a.hidden (id int);
GRANT USAGE ON SCHEMA a TO "`+role+`"`)
	t.Cleanup(func() { _, _ = db.Exec(context.Background(), `DROP OWNED BY "`+role+`"; DROP ROLE "`+role+`"`) })
	columns := []pgtable.WantColumn{{Name: "id", Type: "integer"}}
	const needed = `column "v" of %s is not in the spec, but each row needs it: NOT NULL, no default: add it to the spec, or give it a default`
	for name, test := range map[string]struct {
		table, rights, path string
		foreign             bool // another role asks
		want                []string
	}{
		"a further column":                    {table: "t", rights: "INSERT SELECT", want: []string{fmt.Sprintf(needed, "t")}},
		"a further column, without inserts":   {table: "t", rights: "SELECT UPDATE"},
		"a further column, of a view":         {table: "seen", rights: "INSERT SELECT"},
		"a further column, filled by trigger": {table: "filled", rights: "INSERT"},
		"no table": {table: "none", want: []string{
			"there is no table none in the database: apply the migrations, or give its place in the spec with schema: and name:"}},
		"elsewhere": {table: "away", want: []string{
			"there is no table away in the database: there is one in schema a, and in b: say so with schema:"}},
		"elsewhere, and not usable": {table: "away", foreign: true, want: []string{
			fmt.Sprintf("there is no table away in the database: there is one in schema a, and in b (which role %[1]s may not use: GRANT USAGE ON SCHEMA \"b\" TO \"%[1]s\"): say so with schema:", role)}},
		"in the path, and not usable": {table: "hidden", foreign: true, path: "c, public", want: []string{
			fmt.Sprintf("role %[1]s has no right to use schema c, in which table hidden is: GRANT USAGE ON SCHEMA \"c\" TO \"%[1]s\"", role)}},
		"named, and not usable": {table: "b.away", foreign: true, want: []string{
			fmt.Sprintf("role %[1]s has no right to use schema b, in which table b.away is: GRANT USAGE ON SCHEMA \"b\" TO \"%[1]s\"", role)}},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := db.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Release()
			set := `RESET ROLE; SET search_path TO public`
			if test.path != "" {
				set += "; SET search_path TO " + test.path
			}
			if test.foreign {
				set += `; SET ROLE "` + role + `"`
			}
			if _, err := conn.Exec(t.Context(), set); err != nil {
				t.Fatal(err)
			}
			want := &pgtable.Want{SQL: test.table, Columns: columns, Unique: [][]string{{"id"}}, Rights: strings.Fields(test.rights)}
			found, err := pgtable.Compare(t.Context(), conn, want)
			if got := said(found); err != nil || !slices.Equal(got, test.want) {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
			for answers := 0; ; answers++ {
				f := &failing{conn, answers}
				found, err := pgtable.Compare(t.Context(), f, want)
				if f.left >= 0 { // it asked no more
					if answers < 1 {
						t.Errorf("it asked %d questions", answers)
					}
					break
				}
				if !errors.Is(err, context.Canceled) || found != nil {
					t.Errorf("without answer %d: %q, %v", answers, said(found), err)
				}
				if conn.Conn().IsClosed() {
					t.Fatal("the test has lost its connection")
				}
			}
		})
	}
}
