package pgtable

import "fmt"

// Stored says what follows from where a table, or a partition of it, is stored; nil if nothing
// does.
func Stored(part Part) *Difference {
	switch {
	case part.Kind == "foreign":
		return &Difference{
			Text:   fmt.Sprintf("table %s is a foreign table: its rows are not committed together with the position", part.SQL),
			Advice: "write to a table of this database",
		}
	case part.Kind == "unlogged":
		return &Difference{
			Text:   fmt.Sprintf("table %s is unlogged: after a crash its rows are gone, and their records count as applied", part.SQL),
			Advice: "ALTER TABLE " + part.SQL + " SET LOGGED",
		}
	case part.Kind == "temporary":
		return &Difference{
			Text:   fmt.Sprintf("table %s is temporary: its rows are gone with the connection, and their records count as applied", part.SQL),
			Advice: "write to a permanent table of this database",
		}
	}
	return nil
}

// StoredOfRuntime is [Stored] for a table of the runtime.
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
		if d := Stored(part); d != nil {
			c.found = append(c.found, *d)
		}
	}
}
