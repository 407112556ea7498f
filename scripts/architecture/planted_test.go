package architecture

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/pgtable"
)

// A call of unnest with several arguments is syntax, which cannot name pg_catalog.
var (
	sqlText     = regexp.MustCompile("`[^`]*`")
	sqlVerb     = regexp.MustCompile(`\b(SELECT|INSERT|UPDATE|DELETE|WITH)\b`)
	sqlNoise    = regexp.MustCompile(`--[^\n]*|'[^']*'`)
	sqlCall     = regexp.MustCompile(`(?:^|[^.\w%"$])([a-z_][a-z_0-9]*)\([^)]`)
	sqlOperator = regexp.MustCompile(`[\s\w)](\|\||<<|<>|<=|>=|!~|~|=|<|>|\+|-|\*|/|&&|@>|->>|->)[\s\w(']`)
)

// notCalls are what looks like a call and is none: nobody can plant it.
var notCalls = []string{"coalesce", "extract", "greatest", "least", "nullif", "position", "row_number", "substring", "now"}

// Every function and operator that SQL of the runtime, of the commands and of generated code calls
// is named with pg_catalog, or a start looks for others of its name.
func TestSQLCallsWhatAStartLooksFor(t *testing.T) {
	var texts []string
	for _, path := range production(t, "../../runtime", "../../internal", "../../cmd") {
		if !strings.Contains(path, "/footprint/") {
			for _, text := range sqlText.FindAllString(read(t, path), -1) {
				if sqlVerb.MatchString(text) && !strings.Contains(text, `\b`) { // no regular expression
					texts = append(texts, text)
				}
			}
		}
	}
	for _, dir := range []string{"../../testdata/golden/accepted/kitchen_sink", "../../testdata/golden/accepted/sums", "../../examples/telemetry", "../../examples/orders"} {
		for _, path := range glob(t, dir+"/*_gen.go") {
			texts = append(texts, regexp.MustCompile("SQL = `[^`]*`").FindAllString(read(t, path), -1)...)
		}
	}
	if len(texts) < 100 {
		t.Fatalf("found %d statements", len(texts))
	}
	for _, text := range texts {
		plain := sqlNoise.ReplaceAllString(text, "''")
		for _, m := range sqlCall.FindAllStringSubmatch(plain, -1) {
			if !slices.Contains(notCalls, m[1]) && !slices.Contains(pgtable.Functions, m[1]) && !strings.HasPrefix(m[1], "idem_") {
				t.Errorf("pgtable.Functions lacks %s, of\n%s", m[1], text)
			}
		}
		for _, m := range sqlOperator.FindAllStringSubmatch(plain, -1) {
			if !slices.Contains(pgtable.Operators, m[1]) {
				t.Errorf("pgtable.Operators lacks %s, of\n%s", m[1], text)
			}
		}
	}
}

// Statements that open a session run before the check for planted objects, and Postgres parses
// those of a relay again and again. They name pg_catalog before every function.
func TestSessionsAndRelaysNameEveryFunction(t *testing.T) {
	texts := 0
	for _, path := range production(t, "../../runtime/internal/session", "../../runtime/outbox") {
		for _, text := range sqlText.FindAllString(read(t, path), -1) {
			if !sqlVerb.MatchString(text) && !strings.Contains(text, "::") && !strings.Contains(text, "pg_") {
				continue
			}
			texts++
			for _, m := range sqlCall.FindAllStringSubmatch(sqlNoise.ReplaceAllString(text, "''"), -1) {
				if !slices.Contains(notCalls, m[1]) {
					t.Errorf("%s: %s without pg_catalog in\n%s", path, m[1], text)
				}
			}
		}
	}
	if texts < 20 {
		t.Errorf("found %d statements", texts)
	}
}

// Functions of the migrations, and the blocks that a migration runs, name pg_catalog before every
// function and operator. They run with the rights of their owner, the service or a superuser.
func TestDefinersNameEverything(t *testing.T) {
	definers, blocks := 0, 0
	for _, path := range slices.Concat(glob(t, "../../templates/sql/*.sql"), glob(t, "../../runtime/outbox/*.sql")) {
		for _, f := range regexp.MustCompile(`(?s)(CREATE OR REPLACE FUNCTION|DO \$\$).*?END\s*\$\$;`).FindAllString(read(t, path), -1) {
			head, body, _ := strings.Cut(f, "$$")
			if strings.Contains(head, "SECURITY DEFINER") {
				definers++
			}
			blocks++
			body = sqlNoise.ReplaceAllString(body, "''")
			body = regexp.MustCompile(`:=|\b(ERRCODE|SCHEMA|TABLE|CONSTRAINT|HINT|SET \w+|seal|publish) =`).ReplaceAllString(body, "")
			for _, m := range sqlCall.FindAllStringSubmatch(body, -1) {
				if !slices.Contains(notCalls, m[1]) && !strings.HasPrefix(m[1], "idem_") && m[1] != "t" { // t is an alias
					t.Errorf("%s: %s without pg_catalog in\n%s", path, m[1], f)
				}
			}
			for _, m := range sqlOperator.FindAllStringSubmatch(body, -1) {
				t.Errorf("%s: operator %s without pg_catalog in\n%s", path, m[1], f)
			}
		}
	}
	if definers < 4 || blocks < 14 {
		t.Errorf("found %d functions with SECURITY DEFINER among %d functions and blocks", definers, blocks)
	}
}

// Every call of a function of the runtime names the types of all arguments, so that no overload
// fits better.
func TestCallsOfOwnFunctionsNameTypes(t *testing.T) {
	call, typed, calls := regexp.MustCompile(`SELECT[^;]*?\bidem_\w+\(([^)]*)\)`), regexp.MustCompile(`^\s*\$\d+::\w+\s*$`), 0
	for _, path := range production(t, "../../runtime", "../../internal", "../../cmd") {
		for _, text := range sqlText.FindAllString(read(t, path), -1) {
			if strings.Contains(text, "INSERT INTO") { // a list of columns
				continue
			}
			for _, m := range call.FindAllStringSubmatch(text, -1) {
				calls++
				for arg := range strings.SplitSeq(m[1], ",") {
					if m[1] != "" && !typed.MatchString(arg) {
						t.Errorf("%s: argument %s without a type in\n%s", path, arg, text)
					}
				}
			}
		}
	}
	if calls < 4 {
		t.Errorf("found %d calls", calls)
	}
}

// The migrations have one guard against objects of other roles. It knows every table and index
// that they make, and the check at each connection every table.
func TestMigrationsShareOneGuard(t *testing.T) {
	guard := read(t, "../../runtime/outbox/guard.sql")
	names := regexp.MustCompile(`'(\^idem_\(.*\)\$)'`).FindStringSubmatch(guard)
	if names == nil {
		t.Fatal("the guard names no tables")
	}
	known, checked := regexp.MustCompile(names[1]), read(t, "../../internal/pgtable/planted.go")
	for _, path := range slices.Concat(glob(t, "../../templates/sql/*.sql"), glob(t, "../../runtime/outbox/*.sql")) {
		text := read(t, path)
		if strings.Contains(path, "templates") && !strings.Contains(text, guard) {
			t.Errorf("%s lacks the block of runtime/outbox/guard.sql", path)
		}
		for _, m := range regexp.MustCompile(`CREATE (?:UNIQUE )?(TABLE|SEQUENCE|INDEX) IF NOT EXISTS (\w+)`).FindAllStringSubmatch(text, -1) {
			if !known.MatchString(m[2]) {
				t.Errorf("%s: the guard does not know %s", path, m[2])
			}
			if m[1] != "INDEX" && !strings.Contains(checked, `"`+m[2]+`"`) {
				t.Errorf("%s: pgtable's relations lack %s", path, m[2])
			}
		}
	}
}

// glob are the files that match patterns. There must be some of each.
func glob(t *testing.T, patterns ...string) (all []string) {
	t.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		all = append(all, files...)
	}
	return all
}
