package evolution

import "github.com/idemgen/idemgen/generator/state"

// effect is what a migration does to others, or needs of the rows that are there.
type effect struct{ says, do string }

// rowsTime is how long a migration takes that reads or writes all rows.
const rowsTime = "that takes seconds for each million rows, more with more indexes; apply it when the service may stand"

// effects are what to know before a migration for the change is applied: it fails if the rows
// that are there do not allow it, others wait for longer than a moment, or their statements fail.
// Alone says that a file may do without a transaction.
func effects(c state.TableChange, alone bool) (all []effect) {
	add := func(says, do string) { all = append(all, effect{says, do}) }
	blocks := func(what string) {
		if !alone {
			add("while its migration runs, nothing "+what+" the table",
				rowsTime+", or make it by hand with CREATE INDEX CONCURRENTLY, which others do not feel, as formats goose and golang_migrate do")
		}
	}
	switch c.Kind {
	case state.NewUnique:
		add("its migration fails if two rows have equal values there", "look for such rows first: GROUP BY its columns HAVING count(*) > 1")
		blocks("reads or writes")
	case state.NewForeignKey:
		add("its migration fails if a row has no parent",
			"look for such rows first; and from now on an event whose row comes before its parent is a dead letter")
	case state.NewIndex:
		blocks("writes to")
	case state.Renamed:
		add("once it is renamed, versions of the service that know the former name halt",
			"stop them, apply the migration, start the new version; none of that loses an event")
	}
	if c.Alter.Rewrites {
		add("its migration writes the whole table again, and nothing reads or writes it meanwhile",
			rowsTime+", or add a column of the new type by hand and fill it in portions")
	}
	return all
}
