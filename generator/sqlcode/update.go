package sqlcode

func (st *statement) update() error {
	s := st.step
	if err := st.where(); err != nil {
		return err
	}
	for _, a := range s.Set {
		value := st.Events + "." + ident(a.Column.Name)
		if !a.Value.Sent() {
			text, err := fixed(a)
			if err != nil {
				return err
			}
			value = text
		}
		st.Update = append(st.Update, ident(a.Column.Name)+" = "+value)
	}
	if s.IfMissing == "skip" {
		return nil
	}
	st.Missing = quote(s.Table.Name)
	if s.IfNewer == nil {
		// A stale row is not missing, so with if_newer the table itself is asked. The planner takes
		// generate_subscripts for a thousand rows, and would read the whole table for them.
		st.Ordinal = ident(free("n", st.hasColumn))
	}
	return nil
}

func (st *statement) delete() error { return st.where() }

// where prepares Events and how its rows find those of the table.
func (st *statement) where() error {
	s := st.step
	for _, p := range s.Params() {
		st.add(p)
	}
	for _, a := range s.Where {
		value := st.Events + "." + ident(a.Column.Name)
		if a.Value.Sent() {
			st.Order = append(st.Order, ident(a.Column.Name))
		} else {
			text, err := fixed(a)
			if err != nil {
				return err
			}
			value = text
		}
		st.Key = append(st.Key, st.Alias+"."+ident(a.Column.Name)+" = "+value)
	}
	st.Where = st.Key
	if s.IfNewer != nil {
		guard := newer(s.IfNewer, st.Events+"."+ident(s.IfNewer.Name))
		if s.IfNewer.Nullable {
			guard = "(" + guard + ")"
		}
		st.Where = append(st.Where[:len(st.Where):len(st.Where)], guard)
	}
	return nil
}
