package catalog

import (
	"slices"

	"github.com/idemgen/idemgen/internal/pgtable"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Findings are the consequences of the facts.
type Findings struct {
	Refused  *RefusedError // nil if the service may start
	Apart    map[string]wire.Apart
	AtCommit map[string]bool // tables with a trigger that runs at commit
	Why      []Reason        // for Apart, by table
	Warnings []Reason
}

// Reason is the fact that has a consequence for a table.
type Reason struct {
	Table string
	Fact  string // "trigger audit"
	Apart wire.Apart
}

// RefusedError says why the service must not start on this database. It is final: an operator must
// change the database or the spec.
type RefusedError struct{ reason, advice string }

// Error returns what was found, and what to do.
func (e *RefusedError) Error() string { return e.reason + ": " + e.advice }

// decide alone decides the consequences of a fact. The section "Catalog checks" of
// docs/production.md describes them.
func decide(tables []wire.Table, facts []fact) Findings {
	found := Findings{Apart: map[string]wire.Apart{}, AtCommit: map[string]bool{}}
	for _, f := range facts {
		i := slices.IndexFunc(tables, func(t wire.Table) bool { return t.Name == f.table })
		if i < 0 { // it is about the database
			continue
		}
		t := &tables[i]
		if found.Refused == nil {
			found.Refused = refusal(f)
		}
		if f.kind == deferred && f.action == "trigger" {
			found.AtCommit[t.Name] = true
		}
		if w := warning(f); w != "" {
			found.Warnings = append(found.Warnings, Reason{Table: t.Name, Fact: w})
		}
		if apart := apart(t, f); apart != 0 {
			found.Apart[t.Name] = max(found.Apart[t.Name], apart)
			found.Why = append(found.Why, Reason{t.Name, f.says(), apart})
		}
	}
	return found
}

// refusal judges a table of the service.
func refusal(f fact) *RefusedError {
	if f.kind != storage {
		return nil
	}
	return asRefusal(pgtable.Stored(f.part()))
}

// warning returns how a fact may change the effect of an event; "" if it cannot.
func warning(f fact) string {
	switch f.kind {
	case deferred:
		return "constraint " + f.detail + " is checked only at commit: what it rejects may depend on which records share a transaction"
	case policy:
		return "row level security may hide rows from this role: a delete of a hidden row does nothing, and an update does not find it"
	}
	return ""
}

// part returns the table, or the partition of one, that a fact of storage is about.
func (f fact) part() pgtable.Part { return pgtable.Part{SQL: f.target, Kind: f.detail} }

func asRefusal(d *pgtable.Difference) *RefusedError {
	if d == nil {
		return nil
	}
	return &RefusedError{d.Text, d.Advice}
}

// apart returns how far the writes of a table must be kept apart because of a fact.
func apart(t *wire.Table, f fact) wire.Apart {
	switch f.kind {
	case trigger, rule, policy, relation: // code of others, which may read and write anything
		return wire.ApartRecords
	case check, computed, restricted:
		return wire.ApartRows
	case notNull:
		if slices.ContainsFunc(t.Columns, func(c wire.Column) bool { return c.Nullable && c.Name == f.detail }) {
			return wire.ApartRows
		}
	case unique:
		if !insertsOnly(t) && !slices.ContainsFunc(t.Unique, func(key []string) bool { return same(key, f.columns) }) {
			return wire.ApartTable
		}
	case loose:
		if keyed(t, f.columns[0]) {
			return wire.ApartTable
		}
	case reference:
		if f.target != "" && !declared(t, f) {
			return wire.ApartRecords
		}
	}
	return 0
}

// insertsOnly reports whether steps write a table, but only insert.
func insertsOnly(t *wire.Table) bool {
	return slices.Contains(t.Rights, "INSERT") && !slices.Contains(t.Rights, "UPDATE") && !slices.Contains(t.Rights, "DELETE")
}

// keyed reports whether a column is part of a unique key or of a foreign key.
func keyed(t *wire.Table, column string) bool {
	return slices.ContainsFunc(t.Unique, func(key []string) bool { return slices.Contains(key, column) }) ||
		slices.ContainsFunc(t.References, func(r wire.Reference) bool { return slices.Contains(r.Columns, column) })
}

// actions returns ON DELETE of a declared reference, and ON UPDATE, which is not declared, because
// keys of parents do not change.
var actions = map[string]string{"ra": "", "aa": "", "ca": "cascade", "na": "set_null"}

// declared reports whether a foreign key is declared in the spec.
func declared(t *wire.Table, f fact) bool {
	action, known := actions[f.action]
	return known && slices.ContainsFunc(t.References, func(r wire.Reference) bool {
		return r.Table == f.target && r.OnDelete == action && same(r.Columns, f.columns)
	})
}

// same reports whether two keys have the same columns, in any order.
func same(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// says describes a fact to operators.
func (f fact) says() string {
	switch f.kind {
	case policy:
		return "row level security"
	case relation:
		return "it is a view"
	case notNull:
		return "column " + f.detail + " is NOT NULL, but nullable in the spec"
	case check:
		return "check constraint " + f.detail
	case computed:
		return f.detail + " is computed"
	case restricted:
		return "column " + f.detail + " has a domain or composite type"
	case unique:
		return "unique index or exclusion " + f.detail + " is not in the spec"
	case loose:
		return "key column " + f.columns[0] + " has " + f.detail
	case reference:
		return "foreign key " + f.detail + " is not in the spec in this form"
	}
	return string(f.kind) + " " + f.detail
}
