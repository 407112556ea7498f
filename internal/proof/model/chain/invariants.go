package chain

// covers says whether a transaction that commits passes each of its offsets in exactly one
// way (I12): applied, duplicate of a key that is applied, or dead letter. What the tables
// hold is what the rows of the chain say, since both commit together (I4).
func (r *Rules) covers(x *Step, op *Statement) {
	row := &op.Row
	applied := x.After.applied()
	for o := uint8(0); o < Messages; o++ {
		bit, key := set(1)<<o, set(1)<<keyOf[o]
		inside := o >= op.Prev && o < row.Next
		switch {
		case !inside && (row.Applied|row.Dead)&bit != 0:
			x.violated("I12: offset %d is passed by a row from %d to %d", o, op.Prev, row.Next)
		case !inside:
		case row.Applied&row.Dead&bit != 0:
			x.violated("I12: offset %d took effect and is a dead letter", o)
		case row.Applied&bit != 0 && keys(applied)&key != 0:
			x.violated("applied twice: key %d, again at offset %d", keyOf[o], o)
		case row.Applied&bit != 0:
			applied |= bit
		case row.Dead&bit == 0 && keys(applied)&key == 0:
			x.violated("lost: offset %d was passed as a duplicate, but key %d was never applied", o, keyOf[o])
		}
	}
	if row.Next > Messages || row.Kind == Batch && row.Next <= op.Prev {
		x.violated("I12: a batch from %d to %d", op.Prev, row.Next)
	}
}

// loosely commits effects or dead letters without a row, as planted bugs do.
func (x *Step) loosely(row Row) {
	s := &x.After
	for o := uint8(0); o < Messages; o++ {
		switch bit := set(1) << o; {
		case (row.Applied|row.Dead)&bit == 0:
		case s.Loose&bit != 0:
			x.violated("I4: offset %d left its effect or its dead letter twice", o)
		case row.Applied&bit != 0 && keys(s.applied())&(1<<keyOf[o]) != 0:
			x.violated("I3, I4: applied twice: key %d, by a transaction without a row", keyOf[o])
		default:
			s.Loose |= bit
		}
	}
}

// check says whether both workers know what the chain says (I5).
func (r *Rules) check(x *Step) {
	s := &x.After
	for i := range s.Workers {
		w := &s.Workers[i]
		if !hasMemory(w.State) || !w.Loaded || w.Seq >= s.N || s.Rows[w.Seq].Token != w.Token {
			continue // no memory, or one of a row that is gone: its next append is refused
		}
		row := &s.Rows[w.Seq]
		if row.Next != w.Next {
			x.violated("I5: worker %d believes to be at %d, its row of the chain ends at %d", i, w.Next, row.Next)
		}
		var applied set
		for n := range w.Seq + 1 {
			applied |= s.Rows[n].Applied
		}
		if known := keys(applied) & toCome(w.Next); known != w.Keys {
			x.violated("I5: worker %d knows keys %03b, the chain up to its row has %03b", i, w.Keys, known)
		}
	}
}
