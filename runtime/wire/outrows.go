package wire

// OutRows are what the steps of a plan send: the rows of one statement, in the order of their
// events. Its zero value is empty and ready for use.
type OutRows struct {
	Rows
	ids Emits
	of  int // ordinal of the event, from 1
	buf []byte
}

// Send adds e, which an event of the plan sends.
func (o *OutEvent[E]) Send(b *Batch, m *Message, rows *OutRows, e *E) {
	o.row(b, m, rows, e)
	r := &rows.Rows
	OrNull(r, r.Text, nil)
	r.Int4(0)
	r.Bool(false)
}

// SendIf adds e, which is sent if the last row of another step was applied or, with otherwise, if
// it was skipped. Setting is where that step tells.
func (o *OutEvent[E]) SendIf(b *Batch, m *Message, rows *OutRows, e *E, setting string, of *Rows, otherwise bool) {
	o.row(b, m, rows, e)
	r := &rows.Rows
	r.Text(setting)
	NumberOf(r, of)
	r.Bool(otherwise)
}

func (o *OutEvent[E]) row(b *Batch, m *Message, rows *OutRows, e *E) {
	if rows.of != b.wave.event || rows.all == 0 {
		rows.of = b.wave.event
		rows.ids.Begin("step", b.record.key, m)
	}
	r := rows.Row()
	r.UUID(rows.ids.next(o.Name))
	r.Text(o.Topic)
	r.Text(o.Key(e))
	r.Text(o.Type)
	if o.Value == nil {
		SliceOrNull(r, r.Bytea, nil)
	} else {
		rows.buf = o.Value(e, rows.buf[:0])
		r.Bytea(rows.buf)
	}
	for _, h := range o.Outbox.Headers {
		var v *string
		if o.Header != nil {
			v = o.Header(e, h.Name)
		}
		OrNull(r, r.Text, v)
	}
}
