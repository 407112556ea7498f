package pglease_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/pglease"
)

// node is a node of a plan, as EXPLAIN (FORMAT JSON) names it.
type node struct {
	Type  string `json:"Node Type"`
	Table string `json:"Relation Name"`
	Cond  string `json:"Index Cond"`
	Plans []node
}

// reads returns the nodes that read idem_lease.
func (n node) reads() (all []node) {
	if n.Table == "idem_lease" && strings.HasSuffix(n.Type, "Scan") {
		for _, index := range n.Plans { // of a bitmap
			n.Cond += index.Cond
		}
		all = append(all, n)
	}
	for _, p := range n.Plans {
		all = append(all, p.reads()...)
	}
	return all
}

// A service prepares its statements once, often while idem_lease is empty. Their plans must be
// right for a full table, too.
func TestStatementsReadTheirOwnKeysOnly(t *testing.T) {
	db := idemtest.DB(t)
	tables(t, db)
	conn, err := db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if _, err := conn.Exec(t.Context(), `SET plan_cache_mode = force_generic_plan`); err != nil {
		t.Fatal(err)
	}
	looked := 0
	for _, s := range pglease.Statements {
		prepared, err := conn.Conn().Prepare(t.Context(), s.Label, s.SQL)
		if err != nil {
			t.Fatal(err)
		}
		nulls := strings.TrimSuffix(strings.Repeat("NULL, ", len(prepared.ParamOIDs)), ", ")
		explain := fmt.Sprintf(`EXPLAIN (FORMAT JSON) EXECUTE %s (%s)`, pgx.Identifier{s.Label}.Sanitize(), nulls)
		var text []byte
		if err := conn.QueryRow(t.Context(), explain, pgx.QueryExecModeSimpleProtocol).Scan(&text); err != nil {
			t.Fatal(err)
		}
		var plans []struct{ Plan node }
		if err := json.Unmarshal(text, &plans); err != nil {
			t.Fatal(err)
		}
		for _, n := range plans[0].Plan.reads() {
			looked++
			if !strings.Contains(n.Cond, "key = ") {
				t.Errorf("%s: %s on %s by %q, not by one key", s.Label, n.Type, n.Table, n.Cond)
			}
		}
	}
	if looked < 5 {
		t.Errorf("%d nodes read idem_lease: what was looked at is no plan of these statements", looked)
	}
}
