package sqlcode

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// WrittenAs is the word of the format in which idemgen wrote a file.
func WrittenAs(name, text string) string {
	switch {
	case upOrDown.MatchString(name):
		return "golang_migrate"
	case strings.Contains(text, "\n-- +goose Up\n"):
		return "goose"
	}
	return "sql"
}

// plainSQL are files that are applied in the order of their names, each in one transaction: by a
// tool that begins one for each file, or with psql -1. They hold no BEGIN and COMMIT, which would
// end the transaction of such a tool.
type plainSQL struct{}

var numbered = regexp.MustCompile(`^([0-9]{1,18})_(.+)\.sql$`)

func (plainSQL) Files(number int, base string, m Migration) []MigrationFile {
	return []MigrationFile{{fmt.Sprintf("%04d_%s.sql", number, base), m.comment() + "\n" + m.body() + "\n"}}
}

func (plainSQL) Runtime(number int, base, text string) []MigrationFile {
	return []MigrationFile{{fmt.Sprintf("%04d_%s.sql", number, base), text}}
}

func (plainSQL) Read(name string) (number int, base string, down, ok bool) {
	number, base, ok = readNumbered(numbered, name)
	return number, base, false, ok
}

func readNumbered(form *regexp.Regexp, name string) (number int, base string, ok bool) {
	parts := form.FindStringSubmatch(name)
	if parts == nil {
		return 0, "", false
	}
	number, err := strconv.Atoi(parts[1])
	return number, parts[2], err == nil
}

// goose are files for github.com/pressly/goose: both ways in one file, and a transaction unless
// the file says otherwise.
type goose struct{}

// Migrations in Go are numbered with those in SQL.
var gooseFile = regexp.MustCompile(`^([0-9]{1,18})_(.+)\.(?:sql|go)$`)

func (goose) Read(name string) (number int, base string, down, ok bool) {
	number, base, ok = readNumbered(gooseFile, name)
	return number, base, false, ok && !strings.HasSuffix(name, "_test.go")
}

func (goose) Files(number int, base string, m Migration) []MigrationFile {
	name := fmt.Sprintf("%05d_%s.sql", number, base)
	return []MigrationFile{{name, m.comment() + "\n-- +goose Up\n" + gooseStatement(m.body()) + gooseDown(base)}}
}

// Runtime leaves the transaction to goose.
func (goose) Runtime(number int, base, text string) []MigrationFile {
	head, body, _ := strings.Cut(text, "\n\n")
	text = head + "\n\n-- +goose Up\n" + gooseStatement(strings.TrimRight(body, "\n"))
	return []MigrationFile{{fmt.Sprintf("%05d_%s.sql", number, base), text + gooseDown(base)}}
}

// gooseStatement keeps goose from looking for the ends of statements: a text may hold one.
func gooseStatement(body string) string {
	return "-- +goose StatementBegin\n" + body + "\n-- +goose StatementEnd\n"
}

func gooseDown(base string) string {
	return "\n-- +goose Down\n" + gooseStatement(noWayBack(base, ""))
}

// golangMigrate are files for github.com/golang-migrate/migrate: one for each way.
type golangMigrate struct{}

var upOrDown = regexp.MustCompile(`^([0-9]{1,18})_(.+)\.(?:up|down)\.sql$`)

func (golangMigrate) Read(name string) (number int, base string, down, ok bool) {
	number, base, ok = readNumbered(upOrDown, name)
	return number, base, strings.HasSuffix(name, ".down.sql"), ok
}

// golang-migrate sends a file as one message, which is a transaction.
func (golangMigrate) Files(number int, base string, m Migration) []MigrationFile {
	return upAndDown(number, base, m.comment()+"\n"+m.body()+"\n")
}

func (golangMigrate) Runtime(number int, base, text string) []MigrationFile {
	return upAndDown(number, base, text)
}

func upAndDown(number int, base, up string) []MigrationFile {
	forced := fmt.Sprintf(" Nothing was changed: then run migrate force %d.", number)
	down := "-- " + Marker + "\n\n" + noWayBack(base, forced) + "\n"
	return []MigrationFile{
		{fmt.Sprintf("%06d_%s.up.sql", number, base), up},
		{fmt.Sprintf("%06d_%s.down.sql", number, base), down},
	}
}
