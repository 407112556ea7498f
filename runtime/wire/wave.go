package wire

import (
	"encoding/binary"
	"hash/maphash"
)

// RowID identifies one row of one table within a batch, by a hash of the table's name and the
// row's primary key. If two rows have the same hash, that only costs additional statements.
type RowID struct {
	table string
	hash  uint64
}

var rowSeed = maphash.MakeSeed()

// Row starts the identity of a row. One call per column of the primary key follows, in its order:
// wire.Row("order_items").UUID(e.OrderID).Int(int64(line)).
func Row(table string) RowID { return RowID{table, maphash.String(rowSeed, table)} }

// add mixes eight bytes into the hash, so that it depends on their order.
func (r RowID) add(v uint64) RowID {
	r.hash = (r.hash ^ v) * 0x9e3779b97f4a7c15 // odd, so that nothing is lost
	r.hash ^= r.hash >> 32
	return r
}

// Text adds a text column.
func (r RowID) Text(v string) RowID { return r.add(maphash.String(rowSeed, v)) }

// UUID adds a uuid column.
func (r RowID) UUID(v UUID) RowID {
	return r.add(binary.LittleEndian.Uint64(v[:8])).add(binary.LittleEndian.Uint64(v[8:]))
}

// Int adds a column of any integer type, a date or a boolean.
func (r RowID) Int(v int64) RowID { return r.add(uint64(v)) }

// wave is one pass of a plan's statements. Each statement runs for all events of the wave before
// the next statement runs, so a wave must not contain two uses of a row whose order would then be
// swapped (docs/design.md). It records which rows its statements write and read.
type wave struct {
	rows   map[uint64]*access // by the hash of the RowID
	tables map[string]*access
	free   []*access
	event  int // ordinal of the record being added
	// pending are the marks for the row that is about to be added. If the wave ends before that,
	// the row is part of the next wave, which must know them as well.
	pending []mark
	apart   map[string]Apart // tables of which the catalog knows more than generated code
	records bool             // each record is a wave of its own
}

// mark is a parent row that is read, or a table (a row without hash) that is touched.
type mark struct {
	row RowID
	set func(w *wave, r RowID)
}

// access is what a wave does to a row, or to any row of a table.
type access struct {
	put, deleted, whole bool
	gathers             string // of a row: the kind of steps that gather its events; nothing else writes it
	reader              int    // the only event that reads it; several = -1; none = 0
	deleter             int    // of a table: the last event that deletes in it; none = 0
}

func (w *wave) init() {
	w.rows, w.tables = map[uint64]*access{}, map[string]*access{}
}

// begin starts the next event.
func (w *wave) begin() {
	w.event++
	w.pending = w.pending[:0]
}

// note applies a mark, and keeps it until the row's own write.
func (w *wave) note(r RowID, set func(w *wave, r RowID)) {
	w.pending = append(w.pending, mark{r, set})
	set(w, r)
}

// next starts a wave.
func (w *wave) next() {
	w.clear()
	for _, m := range w.pending {
		m.set(w, m.row)
	}
}

func (w *wave) clear() {
	for _, a := range w.rows {
		w.free = append(w.free, a)
	}
	for _, a := range w.tables {
		w.free = append(w.free, a)
	}
	clear(w.rows)
	clear(w.tables)
}

func (w *wave) newAccess() *access {
	if n := len(w.free); n > 0 {
		a := w.free[n-1]
		w.free = w.free[:n-1]
		*a = access{}
		return a
	}
	return new(access)
}

func (w *wave) row(r RowID) *access {
	a := w.rows[r.hash]
	if a == nil {
		a = w.newAccess()
		w.rows[r.hash] = a
	}
	return a
}

func (w *wave) table(name string) *access {
	a := w.tables[name]
	if a == nil {
		a = w.newAccess()
		w.tables[name] = a
	}
	return a
}

// other reports whether a was read in this wave by another event than the current one.
func (a *access) other(event int) bool { return a.reader != 0 && a.reader != event }

// Before generated code adds a row, it calls Reads, Touches and Unlinks for what else the row
// needs or changes, and then, for the row itself, one of Upserts, Gathers, Puts, PutsAll, Deletes
// and DeletesAll.

// Reads says that a row that the event is about to insert, upsert or update refers to r as its
// parent. The wave ends first if r was deleted in it.
func (b *Batch) Reads(r RowID) {
	w := &b.wave
	if t, a := w.table(r.table), w.row(r); a.deleted || t.whole && t.deleted {
		b.endWave()
	}
	w.note(r, (*wave).reads)
}

func (w *wave) reads(r RowID) {
	w.row(r).readBy(w.event)
	w.table(r.table).readBy(w.event)
}

func (a *access) readBy(event int) {
	if a.other(event) {
		event = -1
	}
	a.reader = event
}

// Touches says that the row that the event is about to write may change or need any row of a
// table: by a cascade, or through a foreign key whose row it cannot name. The wave ends first if
// that table was written in it.
func (b *Batch) Touches(table string) {
	w := &b.wave
	if t := w.table(table); t.put || t.deleted {
		b.endWave()
	}
	w.note(RowID{table: table}, (*wave).deletesAll)
}

// Upserts says that the event is about to upsert row r with a statement that collapses rows with
// equal keys. The wave does not end, unless the table's rows must be kept apart.
func (b *Batch) Upserts(r RowID) {
	if b.wave.apart[r.table] != 0 {
		b.Puts(r)
	}
}

// Gathers says that the event is about to write row r with a statement that combines any number of
// events of the row. Statements of the same kind may be reordered. The wave ends first if a
// statement of another kind wrote r in it, or if another event read r in it before one of this
// kind wrote it.
func (b *Batch) Gathers(r RowID, kind string) {
	w := &b.wave
	if w.apart[r.table] == 0 && w.row(r).gathers == kind {
		w.pending = w.pending[:0]
		return
	}
	b.Puts(r)
	w.row(r).gathers = kind
}

// Puts says that the event is about to insert, upsert or update row r. The wave ends first if r
// was written in it, or read in it by another event.
func (b *Batch) Puts(r RowID) {
	w := &b.wave
	if w.apart[r.table] >= ApartTable {
		b.PutsAll(r.table)
		return
	}
	if t, a := w.table(r.table), w.row(r); t.whole || a.put || a.deleted || a.other(w.event) {
		b.endWave()
	}
	a := w.row(r)
	a.put, w.table(r.table).put = true, true
	w.pending = w.pending[:0]
}

// Deletes says that the event is about to delete row r. The wave ends first if r was
// written in it.
func (b *Batch) Deletes(r RowID) {
	w := &b.wave
	if w.apart[r.table] >= ApartTable {
		b.DeletesAll(r.table)
		return
	}
	if t, a := w.table(r.table), w.row(r); t.whole || a.put || a.deleted {
		b.endWave()
	}
	t := w.table(r.table)
	w.row(r).deleted, t.deleted, t.deleter = true, true, w.event
	w.pending = w.pending[:0]
}

// PutsAll says that the event is about to insert, upsert or update rows of a table without naming
// their whole primary key. The wave ends first if the table was written in it, or read in it by
// another event.
func (b *Batch) PutsAll(table string) {
	w := &b.wave
	if t := w.table(table); t.put || t.deleted || t.other(w.event) {
		b.endWave()
	}
	t := w.table(table)
	t.put, t.whole = true, true
	w.pending = w.pending[:0]
}

// DeletesAll says that the event is about to delete rows of a table without naming their whole
// primary key. The wave ends first if the table was written in it.
func (b *Batch) DeletesAll(table string) {
	w := &b.wave
	if t := w.table(table); t.put || t.deleted {
		b.endWave()
	}
	w.deletesAll(RowID{table: table})
	w.pending = w.pending[:0]
}

func (w *wave) deletesAll(r RowID) {
	t := w.table(r.table)
	t.deleted, t.whole, t.deleter = true, true, w.event
}

// Unlinks says that the event is about to delete a row that refers to a parent table, or to change
// what it refers to. The wave ends first if another event deleted parents in it: that delete runs
// last in the wave and would no longer find the child row that must make it fail.
func (b *Batch) Unlinks(parent string) {
	if t := b.wave.table(parent); t.deleter != 0 && t.deleter != b.wave.event {
		b.endWave()
	}
}
