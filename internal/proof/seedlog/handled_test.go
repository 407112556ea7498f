package seedlog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof/seedlog"
)

// handled is a service whose handlers name rows: of orders, which a step makes, by the key and by
// a foreign key; of accounts, which nobody makes but a case has; and of notes, which they make.
const handled = `
version: 1
consumer: c
package: p
tables:
  orders: {primary_key: [order_id], columns: {order_id: uuid, paid: {type: bigint, default: 0}}}
  links:
    primary_key: [link]
    columns: {link: text, replaced: uuid}
    foreign_keys: [{columns: [replaced], references: orders}]
  accounts: {primary_key: [account], columns: {account: text, owner: text, state: {type: text, default: new}}}
  notes: {primary_key: [note, line], columns: {note: text, line: integer, said: text}}
topics:
  t:
    event_type: {header: type}
    idempotency_key: {source: event_id, window: 1d}
    fields: {event_id: uuid}
    events:
      Placed: {type: placed, fields: {order_id: uuid}, write: [{insert: orders, leave: [paid]}]}
      Paid: {type: paid, fields: {order_id: uuid, cents: int64}, handle: true}
      Replaced: {type: replaced, fields: {replaced: uuid}, handle: true}
      Booked: {type: booked, fields: {account: string, cents: int64}, handle: true}
      Noted: {type: noted, fields: {note: string, line: int32, said: string}, handle: true}
      Corrected: {type: corrected, fields: {note: string, line: int32, said: string}, handle: true}
`

// Fields that have the name and type of a key name rows that are there: the log made them, a case
// has some, or an earlier handler was called for them. Of rows that only a case has, some are
// missing: the handler may make them.
func TestHandledEventsMeetRows(t *testing.T) {
	spec, bad := syntax.Load("idemgen.yaml", []byte(handled))
	s, more := resolve.Resolve(spec)
	if bad.Errors() > 0 || more.Errors() > 0 {
		t.Fatal(bad, more)
	}
	var accounts *model.Table
	for _, table := range s.Tables {
		if table.Name == "accounts" {
			accounts = table
		}
	}
	given := model.Row{Table: accounts}
	for i, text := range []string{"acme", "Ada"} {
		given.Set = append(given.Set, model.Assign{Column: accounts.Columns[i], Value: model.Value{Kind: model.ConstValue, Const: &model.Constant{Text: text}}})
	}
	before, log := seedlog.Log(s, s.Topics[0], []model.Row{given})
	rows, firstNote := map[string]bool{}, map[string]bool{}
	for _, row := range before {
		var cells []string
		for _, a := range row.Set {
			cells = append(cells, a.Value.Const.Text)
		}
		if row.Table != accounts || len(cells) != 2 || cells[1] != "Ada" { // state is left to its default
			t.Errorf("a row of %s is there before: %q", row.Table.Name, cells)
		}
		rows["Booked "+cells[0]] = true
	}
	called, met := map[string]int{}, map[string]int{}
	for _, r := range log {
		value := string(r.Value)
		member := func(name string) string {
			_, rest, _ := strings.Cut(value, fmt.Sprintf("%q:", name))
			text, _, _ := strings.Cut(rest, ",")
			return strings.Trim(text, `"}`)
		}
		names := map[string]string{"Placed": "order_id", "Paid": "order_id", "Replaced": "replaced", "Booked": "account", "Noted": "note", "Corrected": "note"}
		row := member(names[r.Event])
		called[r.Event]++
		if rows[r.Event+" "+row] {
			met[r.Event]++
		}
		switch r.Event {
		case "Placed":
			rows["Paid "+row], rows["Replaced "+row] = true, true
		case "Noted":
			rows["Corrected "+row] = true
			if firstNote[row] {
				met[r.Event]++
			}
			firstNote[row] = true
		}
	}
	for _, event := range []string{"Paid", "Replaced", "Corrected", "Booked"} {
		if n := called[event]; n < 4 || met[event]*2 < n || (event == "Booked") != (met[event] < n) {
			t.Errorf("%s names a row that is there in %d of %d records", event, met[event], n)
		}
	}
	if met["Noted"] == 0 {
		t.Errorf("Noted names a row a second time in none of %d records", called["Noted"])
	}
}
