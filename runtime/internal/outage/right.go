package outage

import (
	"errors"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// MissingRight means that the server rejected a statement because the role lacks a right.
type MissingRight struct {
	Role   string
	Object string // "table orders"
	Grant  string // the statement that grants all rights that the statement needs; "" if not known
	Err    error
}

func (e *MissingRight) Error() string {
	if e.Grant == "" {
		return "role " + e.Role + " lacks a right on " + e.Object + ": SQLSTATE 42501"
	}
	return "role " + e.Role + " lacks a right on " + e.Object + ": " + e.Grant + ": SQLSTATE 42501"
}

// Unwrap returns the error of the server.
func (e *MissingRight) Unwrap() error { return e.Err }

// denial is the server's message about an object. Other messages with its SQLSTATE are about row
// security and ownership.
var denial = regexp.MustCompile(`^permission denied for (table|view|materialized view|foreign table|sequence|schema|function|procedure) ([A-Za-z_][A-Za-z0-9_$]*)$`)

// NameRight returns a [MissingRight] if the server rejected a statement because the role lacks a
// right, and otherwise err. sql is the text of the statement; "" if it is not known. An error
// inside a function or a trigger is returned as it is: another role may run it.
func NameRight(err error, role, sql string) error {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || pg.Code != "42501" || pg.Routine != "aclcheck_error" || pg.Where != "" || role == "" {
		return err
	}
	m := denial.FindStringSubmatch(pg.Message)
	if _, known := errors.AsType[*MissingRight](err); known || m == nil {
		return err
	}
	kind, name := m[1], m[2]
	r := &MissingRight{Role: role, Object: kind + " " + name, Err: err}
	to := " TO " + pgx.Identifier{role}.Sanitize()
	switch kind {
	case "schema", "sequence":
		r.Grant = "GRANT USAGE ON " + strings.ToUpper(kind) + " " + pgx.Identifier{name}.Sanitize() + to
	case "function", "procedure":
		r.Grant = "GRANT EXECUTE ON " + strings.ToUpper(kind) + " " + pgx.Identifier{name}.Sanitize() + to
	default:
		if rights, on := needed(sql, name); rights != nil {
			r.Grant = "GRANT " + strings.Join(rights, ", ") + " ON " + on + to
		}
	}
	return r
}

// use is where a statement names a table: the words before the name, and the name, which may have
// a schema. locks and replaces are clauses that need a right of their own.
var (
	use      = regexp.MustCompile(`(?i)\b(insert\s+into|update|delete\s+from|from|join|using)\s+(?:only\s+)?((?:(?:"(?:[^"]|"")+"|[\w$]+)\.)?("(?:[^"]|"")+"|[\w$]+))`)
	locks    = regexp.MustCompile(`(?i)\bfor\s+(?:no\s+key\s+update|update|share|key\s+share)\b`)
	replaces = regexp.MustCompile(`(?i)\bdo\s+update\b`)
	reads    = regexp.MustCompile(`(?i)\b(?:where|returning|on\s+conflict)\b`)
)

// needed returns the rights that a statement needs on a table, and what the statement calls the
// table.
func needed(sql, table string) (rights []string, on string) {
	needs := map[string]bool{}
	for _, m := range use.FindAllStringSubmatch(sql, -1) {
		name := strings.ToLower(m[3])
		if inner, quoted := strings.CutPrefix(m[3], `"`); quoted {
			name = strings.ReplaceAll(strings.TrimSuffix(inner, `"`), `""`, `"`)
		}
		if name != table {
			continue
		}
		on = m[2]
		switch verb := strings.ToUpper(strings.Fields(m[1])[0]); verb {
		case "INSERT":
			needs[verb] = true
			needs["UPDATE"] = needs["UPDATE"] || replaces.MatchString(sql)
		case "UPDATE", "DELETE":
			needs[verb] = true
		default:
			needs["SELECT"] = true
			needs["UPDATE"] = needs["UPDATE"] || locks.MatchString(sql)
		}
		needs["SELECT"] = needs["SELECT"] || reads.MatchString(sql)
	}
	for _, right := range []string{"SELECT", "INSERT", "UPDATE", "DELETE"} {
		if needs[right] {
			rights = append(rights, right)
		}
	}
	return rights, on
}
