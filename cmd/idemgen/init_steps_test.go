package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWhatInitSaysAtLastWorks: its lines, one after the other, lead from the sample to a service
// of one's own whose tests pass.
func TestWhatInitSaysAtLastWorks(t *testing.T) {
	repo := repository(t)
	module(t, nil)
	_, _, stderr := run(t, "init", "sub")
	_, last, _ := strings.Cut(stderr, "\nNow make the module complete:\n") // before it are warnings
	var lines []string
	for line := range strings.Lines(last) {
		if command, ok := strings.CutPrefix(line, "  "); ok && !strings.HasPrefix(command, "#") {
			command, _, _ = strings.Cut(command, "   #")
			lines = append(lines, strings.TrimSpace(command))
		}
	}
	want := []string{
		"cd sub", "go get -tool github.com/idemgen/idemgen/cmd/idemgen", "go get github.com/confluentinc/confluent-kafka-go/v2@v2.15.0", "go mod tidy", "go test ./...",
		"rm -r migrations idem.state.yaml handler.go idem_setup_test.go testdata/cases", "go tool idemgen generate", "go tool idemgen case first",
		"go tool idemgen generate && go test ./...",
		`for f in migrations/*.sql; do psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -f "$f" || break; done`, "go run ./cmd/sub",
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Fatalf("init says\n%s\nnot\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	t.Chdir("sub")
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", lines[5]).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	own := strings.NewReplacer("order-projector", "sub", "package: orders", "package: sub").Replace(spec + second)
	write(t, "idemgen.yaml", own)
	must(t, "generate")
	write(t, "handler.go", strings.NewReplacer("fmt.Errorf(\"OrderReturned: %w\", idem.ErrNotImplemented)", "nil", "\t\"fmt\"\n", "").Replace(read(t, "handler.go")))
	edit(t, "idem_setup_test.go", "return stubHandler{}", "return Service{}")
	must(t, "case", "first")
	draft := regexp.MustCompile(`(?m)^draft: .*\n`)
	write(t, "testdata/cases/first.yaml", draft.ReplaceAllString(read(t, "testdata/cases/first.yaml"), ""))
	must(t, "generate")
	must(t, "check")
	if files, _ := filepath.Glob("migrations/*.sql"); len(files) != 2 {
		t.Errorf("migrations: %q", files)
	}
	if _, err := os.Stat("cmd/sub/main.go"); err != nil {
		t.Error(err)
	}
	t.Chdir("..")
	build(t, repo, "test", "./sub")
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
