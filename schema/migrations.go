package schema

// Migrations is the migrations map.
type Migrations struct {
	Key    Pos
	Pos    Pos
	Dir    *Text
	Format *Text // sql
	Broken bool
}

var migrationKeys = keys[Migrations]{
	{name: "dir", value: pathValue(func(m *Migrations) **Text { return &m.Dir })},
	{name: "format", value: put(shape{words: []string{"sql"}}, func(m *Migrations) **Text { return &m.Format }, func(w *walker, e entry) (*Text, bool) {
		return w.word(e, []string{"sql"}, []string{"goose", "golang_migrate"}, "until then, format: sql writes numbered files, which either of them can run as they are once they are renamed")
	})},
}

func readMigrations(w *walker, e entry) (*Migrations, bool) {
	m := &Migrations{Key: e.key, Pos: e.node.Pos}
	m.Broken = !walkMap(w, e, migrationKeys, m)
	return m, true
}
