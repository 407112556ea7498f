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

// What runs with the rights of its owner names pg_catalog before every function and operator.
func TestDefinersNameEverything(t *testing.T) {
	definers := 0
	for _, path := range slices.Concat(glob(t, "../../templates/sql/*.sql"), glob(t, "../../runtime/outbox/*.sql")) {
		for _, f := range regexp.MustCompile(`(?s)CREATE OR REPLACE FUNCTION .*?END \$\$;`).FindAllString(read(t, path), -1) {
			head, body, _ := strings.Cut(f, "$$")
			if strings.Contains(head, "SECURITY DEFINER") {
				definers++
			}
			body = sqlNoise.ReplaceAllString(body, "''")
			body = regexp.MustCompile(`:=|\b(ERRCODE|SCHEMA|TABLE|CONSTRAINT|HINT|SET \w+|seal) =`).ReplaceAllString(body, "")
			for _, m := range sqlCall.FindAllStringSubmatch(body, -1) {
				if !slices.Contains(notCalls, m[1]) && !strings.HasPrefix(m[1], "idem_") {
					t.Errorf("%s: %s without pg_catalog in\n%s", path, m[1], f)
				}
			}
			for _, m := range sqlOperator.FindAllStringSubmatch(body, -1) {
				t.Errorf("%s: operator %s without pg_catalog in\n%s", path, m[1], f)
			}
		}
	}
	if definers < 4 {
		t.Errorf("found %d functions with SECURITY DEFINER", definers)
	}
}

// glob are the files that match a pattern. There must be some.
func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	return files
}
