package syntax

// Migrations is the migrations map.
type Migrations struct {
	Key    Pos
	Pos    Pos
	Dir    *Text
	Format *Text // sql, goose or golang_migrate
	Broken bool
}

func readMigrations(w *walker, e entry) (*Migrations, bool) {
	m := &Migrations{Key: e.key, Pos: e.node.Pos}
	m.Broken = !walkMap(w, e, migrationKeys, m)
	return m, true
}
