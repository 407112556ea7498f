package sqlcode_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/sqlcode"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

const tablesSpec = `version: 1
consumer: c
package: p
tables:
  order:
    description: One row per order. It's ours.
    primary_key: [id]
    columns:
      id: uuid
      parent: {type: nullable uuid, description: the order that this one replaces}
      code: {type: char(3), default: "it'"}
      total: {type: "numeric(12,2)", default: 0}
      raw: {type: bytea, default: AQI=}
      tags: {type: text array, default: "{}"}
      made: {type: timestamptz, default: now(), description: Use log.}
    unique: [[code, total]]
    foreign_keys:
      - {columns: [parent], references: order, on_delete: set_null}
  line:
    primary_key: [no]
    columns:
      no: {type: bigint, identity: true}
      "order": uuid
      email: text
    foreign_keys:
      - {columns: [order], references: order, on_delete: cascade}
topics:
  t:
    idempotency_key: {source: {record: offset}}
    assume: [unique]
    events:
      E:
        fields: {order: uuid, email: string}
        write:
          - insert: line
`

// TestCreateTables: children may stand before parents in the spec, and everything that
// the spec says about a table is in its statements.
func TestCreateTables(t *testing.T) {
	s := load(t, tablesSpec)
	slices.Reverse(s.Tables)
	got, err := sqlcode.CreateTables(s.Tables)
	if err != nil {
		t.Fatal(err)
	}
	const want = `CREATE TABLE "order" (
    id uuid NOT NULL,
    parent uuid,
    code char(3) NOT NULL DEFAULT 'it''',
    total numeric(12,2) NOT NULL DEFAULT 0,
    raw bytea NOT NULL DEFAULT E'\\x0102',
    tags text[] NOT NULL DEFAULT '{}',
    made timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT order_pkey PRIMARY KEY (id),
    CONSTRAINT order_code_total_key UNIQUE (code, total),
    CONSTRAINT order_parent_fkey FOREIGN KEY (parent) REFERENCES "order" (id) ON DELETE SET NULL
);
COMMENT ON TABLE "order" IS 'One row per order. It''s ours.';
COMMENT ON COLUMN "order".parent IS 'the order that this one replaces';
COMMENT ON COLUMN "order".made IS 'Use log.';

CREATE TABLE line (
    no bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    "order" uuid NOT NULL,
    email text NOT NULL,
    CONSTRAINT line_pkey PRIMARY KEY (no),
    CONSTRAINT line_order_fkey FOREIGN KEY ("order") REFERENCES "order" (id) ON DELETE CASCADE
);`
	if got != want {
		t.Errorf("got\n%s", got)
	}
	idemtest.Exec(t, idemtest.DB(t), got)
}

// TestCreateTablesInCycle: tables that name each other can be created.
func TestCreateTablesInCycle(t *testing.T) {
	column := func(name string) *model.Column {
		return &model.Column{Name: name, Type: model.ColType{Kind: model.ColUUID}, Nullable: name != "id"}
	}
	a := &model.Table{Name: "a", Columns: []*model.Column{column("id"), column("b")}}
	b := &model.Table{Name: "b", Columns: []*model.Column{column("id"), column("a")}}
	for _, pair := range [][2]*model.Table{{a, b}, {b, a}} {
		child, parent := pair[0], pair[1]
		child.PrimaryKey = child.Columns[:1]
		child.ForeignKeys = []model.ForeignKey{{Columns: child.Columns[1:], References: parent, OnDelete: "restrict"}}
	}
	sql, err := sqlcode.CreateTables([]*model.Table{a, b})
	if err != nil {
		t.Fatal(err)
	}
	db := idemtest.DB(t)
	idemtest.Exec(t, db, sql)
	keys := rows(t, db, "SELECT conname FROM pg_constraint WHERE contype = 'f' ORDER BY 1")
	if !slices.Equal(keys, []string{"(a_b_fkey)", "(b_a_fkey)"}) {
		t.Errorf("%q", keys)
	}
}

// TestCreateTablesNames: two constraints of one name are refused, not renamed.
func TestCreateTablesNames(t *testing.T) {
	column := func(name string) *model.Column {
		return &model.Column{Name: name, Type: model.ColType{Kind: model.ColText}}
	}
	x, y := column("b_c"), column("c")
	tables := []*model.Table{
		{Name: "a", Columns: []*model.Column{x}, PrimaryKey: []*model.Column{x}, Unique: [][]*model.Column{{x}}},
		{Name: "a_b", Columns: []*model.Column{y}, PrimaryKey: []*model.Column{y}, Unique: [][]*model.Column{{y}}},
	}
	if sql, err := sqlcode.CreateTables(tables); err == nil || !strings.Contains(err.Error(), "a_b_c_key") {
		t.Errorf("got %v\n%s", err, sql)
	}
}

// TestAddColumn: a column added later is what it would have been in CREATE TABLE.
func TestAddColumn(t *testing.T) {
	s := load(t, tablesSpec)
	order := s.Tables[0]
	const shape = "SELECT column_name, data_type, is_nullable, column_default, col_description('\"order\"'::regclass, ordinal_position::int)" +
		" FROM information_schema.columns WHERE table_name = 'order' ORDER BY 1"
	whole := rows(t, database(t, s), shape)
	added := slices.Clone(order.Columns)
	order.Columns = slices.DeleteFunc(slices.Clone(added), func(c *model.Column) bool { return c.Name == "made" || c.Name == "parent" })
	order.ForeignKeys = nil
	db := database(t, s)
	for _, c := range added {
		if slices.Contains(order.Columns, c) {
			continue
		}
		sql, err := sqlcode.AddColumn(order, c)
		if err != nil {
			t.Fatal(err)
		}
		idemtest.Exec(t, db, sql)
	}
	if got := rows(t, db, shape); !slices.Equal(got, whole) {
		t.Errorf("got  %q\nwant %q", got, whole)
	}
}

// TestRuntimeTables: the runtime's migrations may be applied twice, also by two at once, and
// record their versions.
func TestRuntimeTables(t *testing.T) {
	db := idemtest.DB(t)
	for _, sql := range runtimeTables() {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if _, err := db.Exec(t.Context(), sql); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	if got := rows(t, db, "SELECT part, version FROM idem_schema ORDER BY part"); !slices.Equal(got, []string{"(core,1)", "(effects,1)", "(keys,1)"}) {
		t.Errorf("versions %q", got)
	}
	for row, constraint := range map[string]string{"idem_assert VALUES ('x')": "idem_assert_failed", "idem_step_refused VALUES ('x', 't')": "idem_step_refused"} {
		if _, err := db.Exec(t.Context(), "INSERT INTO "+row); err == nil || !strings.Contains(err.Error(), constraint) {
			t.Errorf("%s: %v", row, err)
		}
	}
}

// TestOneRowPerSeq: whatever the time, there is one row at a place of a chain. A ledger
// partitioned by time could not promise that.
func TestOneRowPerSeq(t *testing.T) {
	db := idemtest.DB(t)
	for _, sql := range runtimeTables() {
		idemtest.Exec(t, db, sql)
	}
	row := func(at string) error {
		_, err := db.Exec(t.Context(), `INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq, written_at)
VALUES (1, 5, gen_random_uuid(), 0, 1, 'b', -1, 1, 1, 0, $1::text::timestamptz)`, at)
		return err
	}
	if err := row("2026-01-01 23:59:59.999Z"); err != nil {
		t.Fatal(err)
	}
	if err := row("2026-01-02 00:00:00Z"); err == nil || !strings.Contains(err.Error(), "idem_ledger_pkey") {
		t.Errorf("on the other side of midnight a second row stands: %v", err)
	}
}
