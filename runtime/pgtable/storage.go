package pgtable

import "fmt"

// Stored says what follows from where a table, or a partition of it, is stored; nil if nothing
// does. unlogged says that the spec allows it to be unlogged.
func Stored(part Part, unlogged bool) *Difference {
	switch {
	case part.Kind == "foreign":
		return &Difference{
			Text:   fmt.Sprintf("table %s is a foreign table: its rows are not committed together with the position", part.SQL),
			Advice: "write to a table of this database",
		}
	case part.Kind == "unlogged" && !unlogged:
		return &Difference{
			Text:   fmt.Sprintf("table %s is unlogged: after a crash its rows are gone, and their records count as applied", part.SQL),
			Advice: "ALTER TABLE " + part.SQL + " SET LOGGED, or say unlogged: true of the table in the spec",
		}
	case part.Kind == "temporary":
		return &Difference{
			Text:   fmt.Sprintf("table %s is temporary: its rows are gone with the connection, and their records count as applied", part.SQL),
			Advice: "write to a permanent table of this database",
		}
	}
	return nil
}

// StoredOfRuntime is [Stored] for a table of the runtime: no spec allows it to be unlogged.
func StoredOfRuntime(part Part) *Difference {
	if part.Kind == "foreign" {
		return nil
	}
	return &Difference{
		Text:   fmt.Sprintf("the runtime's table %s is %s", part.SQL, part.Kind),
		Advice: "ALTER TABLE " + part.SQL + " SET LOGGED; the protocol needs it after a crash",
	}
}

func (c *comparison) storage() {
	for _, part := range c.have.Parts {
		if d := Stored(part, c.want.Unlogged); d != nil {
			c.found = append(c.found, *d)
		}
	}
}
