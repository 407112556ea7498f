package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// steps are the commands that init prints at last.
func steps(t *testing.T, args ...string) (lines []string) {
	t.Helper()
	code, stdout, stderr := run(t, append([]string{"init"}, args...)...)
	if code != done {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	_, last, _ := strings.Cut(stderr, "\nNow make the module complete:\n") // before it are warnings
	for line := range strings.Lines(last) {
		if command, ok := strings.CutPrefix(line, "  "); ok && !strings.HasPrefix(command, "#") && !strings.HasPrefix(command, " ") {
			command, _, _ = strings.Cut(command, "   #")
			lines = append(lines, strings.TrimSpace(command))
		}
	}
	return lines
}

// replaced follows the printed steps that put a spec of one's own in the place of the sample: what
// rm removes, then init, then the handler and a first case. Nothing of the sample is told then.
func replaced(t *testing.T, rm, own string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", rm).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	write(t, "idemgen.yaml", own)
	if code, stdout, stderr := run(t, "init"); code != done || strings.Contains(stderr, "W909") || strings.Contains(stderr, "roll out without going back") {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if strings.Contains(own, "handle: true") {
		write(t, "handler.go", strings.NewReplacer("fmt.Errorf(\"OrderReturned: %w\", idem.ErrNotImplemented)", "nil", "\t\"fmt\"\n", "").Replace(read(t, "handler.go")))
		edit(t, "idem_setup_test.go", "return stubHandler{}", "return Service{}")
	}
	must(t, "case", "first")
	draft := regexp.MustCompile(`(?m)^draft: .*\n`)
	write(t, "testdata/cases/first.yaml", draft.ReplaceAllString(read(t, "testdata/cases/first.yaml"), ""))
	must(t, "generate")
	must(t, "check")
}

// TestWhatInitSaysAtLastWorks: its lines, one after the other, lead from the sample to a service
// of one's own whose tests pass, with Go code and without.
func TestWhatInitSaysAtLastWorks(t *testing.T) {
	repo := repository(t)
	for name, own := range map[string]string{"with handle": spec + second, "without": spec} {
		t.Run(name, func(t *testing.T) {
			module(t, nil)
			lines := steps(t, "sub")
			want := []string{
				"cd sub", "go get -tool github.com/idemgen/idemgen/cmd/idemgen", "go get github.com/confluentinc/confluent-kafka-go/v2@v2.15.0", "go mod tidy", "go test ./...",
				"rm -r migrations idem.state.yaml handler.go idem_setup_test.go testdata/cases cmd/sub/main.go", "go tool idemgen init", "go tool idemgen case first",
				"go tool idemgen generate && go test ./...",
				`for f in migrations/*.sql; do psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -f "$f" || break; done`, "go run ./cmd/sub",
			}
			if strings.Join(lines, "\n") != strings.Join(want, "\n") {
				t.Fatalf("init says\n%s\nnot\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
			}
			t.Chdir("sub")
			replaced(t, lines[5], strings.NewReplacer("order-projector", "sub", "package: orders", "package: sub").Replace(own))
			if files, _ := filepath.Glob("migrations/*.sql"); len(files) != 2 {
				t.Errorf("migrations: %q", files)
			}
			t.Chdir("..")
			build(t, repo, "vet", "./sub/...")
			build(t, repo, "test", "./sub")
		})
	}
}

// Each format of migrations is applied by its own tool, and a service that is there is not told to
// remove anything.
func TestInitSaysHowMigrationsAreApplied(t *testing.T) {
	for format, want := range map[string]string{
		"sql":            `  for f in migrations/*.sql; do psql`,
		"goose":          `  goose -dir migrations postgres "$DATABASE_URL" up`,
		"golang_migrate": `  migrate -path migrations -database "$DATABASE_URL" up`,
	} {
		module(t, map[string]string{"idemgen.yaml": spec + "migrations: {format: " + format + "}\n"})
		_, _, stderr := run(t, "init")
		if !strings.Contains(stderr, want) || strings.Contains(stderr, "rm -r") || !strings.Contains(stderr, "  go run ./cmd/order-projector ") {
			t.Errorf("%s:\n%s", format, stderr)
		}
	}
}
