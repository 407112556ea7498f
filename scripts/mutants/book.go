package main

// book keeps the record up to date while bugs are played.
type book struct {
	record record
	hashes map[string]string // fingerprints, by the bug's name; "" of a bug that has none
}

// newBook takes the bugs' fingerprints, and drops the lines of all that is no bug any more.
func newBook(r record, p *fingerprinter, bugs []mutant) (*book, error) {
	b := &book{r, map[string]string{}}
	for _, m := range bugs {
		b.hashes[m.name], _ = p.of(m) // playing the bug says why it has none
	}
	return b, r.change(func(all lines) {
		all.drop(func(name string) bool { _, ok := b.hashes[name]; return !ok })
	})
}

// forget drops the lines of bugs.
func (b *book) forget(bugs []mutant) error {
	names := map[string]bool{}
	for _, m := range bugs {
		names[m.name] = true
	}
	return b.record.change(func(all lines) {
		all.drop(func(name string) bool { return names[name] })
	})
}

// left returns those of the bugs that are not recorded as caught.
func (b *book) left(bugs []mutant) ([]mutant, error) {
	all, err := b.record.read()
	if err != nil {
		return nil, err
	}
	var left []mutant
	for _, m := range bugs {
		if !all[line{b.hashes[m.name], m.name}] {
			left = append(left, m)
		}
	}
	return left, nil
}

// note records a bug's verdict. A bug that is caught has one line then, any other has none.
func (b *book) note(m mutant, v verdict) error {
	return b.record.change(func(all lines) {
		all.drop(func(name string) bool { return name == m.name })
		if hash := b.hashes[m.name]; v == caught && hash != "" {
			all[line{hash, m.name}] = true
		}
	})
}
