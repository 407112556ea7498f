package handlers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/internal/proof/longtest"
)

// stripped leaves out what only a debugger reads: it takes as long as the rest of linking.
const stripped = "-ldflags=-s -w"

// handlers are services with handlers: by event, how many statements a call sends at most.
var handlers = []struct {
	name       string
	make       func(t *testing.T, name string)
	statements map[string]int
	tests      []string // those of topics with handlers
}{
	{"readme", func(t *testing.T, name string) { must(t, "init", name) }, map[string]int{"OrderPaid": 2}, []string{"TestOrdersV1"}},
	{"guide", ofTheGuide, map[string]int{"PaymentReceived": 2}, []string{"TestPaymentsV1"}},
	{"bank", ofAnExample, map[string]int{"TransferRequested": 3, "CardCaptured": 2}, []string{"TestTransfersV1", "TestCardsV1"}},
	{"recipes", ofAnExample, map[string]int{"Seen": 2, "Said": 1, "FileSent": 1}, []string{"TestPeopleV1", "TestFilesV1"}},
}

// ofTheGuide is the service of docs/guide.md, with its handler.
func ofTheGuide(t *testing.T, name string) {
	guide := read(t, filepath.Join(commandtest.Repository, "docs", "guide.md"))
	spec := strings.ReplaceAll("\n"+commandtest.Block(t, guide, "yaml"), "\n   ", "\n")
	write(t, filepath.Join(name, "idemgen.yaml"), strings.Replace(spec, "package: payments", "package: "+name, 1))
	must(t, "init", name)
	write(t, filepath.Join(name, "handler.go"), "package "+name+`

import (
	"context"

	"github.com/idemgen/idemgen/runtime/idem"
)

type Service struct{}

`+commandtest.Block(t, guide, "go"))
}

// ofAnExample is a copy of an example's package.
func ofAnExample(t *testing.T, name string) {
	from := filepath.Join(commandtest.Repository, "examples", name)
	if err := os.CopyFS(name, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(name, "cmd")); err != nil {
		t.Fatal(err)
	}
}

// planted puts a bug into every handler of a service when its tests run.
const planted = `package %s

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
)

// planted has the bug that $PLANTED names, in all handlers or in that of one event.
type planted struct {
	Handler
	db *pgxpool.Pool
}

func (p planted) call(tx idem.Tx, event string, last int, call func(tx idem.Tx) error) error {
	bug, in, _ := strings.Cut(os.Getenv("PLANTED"), " ")
	if in != "" && in != event {
		return call(tx)
	}
	switch bug {
	case "nothing":
		return nil
	case "permanent":
		return idem.Permanent(errors.New("planted"))
	case "outside":
		return call(outside{tx, p.db})
	case "forgotten":
		return call(&forgotten{Tx: tx, left: last})
	}
	return call(tx)
}

// outside sends statements beside the transaction.
type outside struct {
	idem.Tx
	db *pgxpool.Pool
}

func (o outside) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return o.db.Exec(ctx, sql, args...)
}

func (o outside) Queue(sql string, args ...any) *pgx.QueuedQuery {
	_, err := o.db.Exec(context.Background(), sql, args...)
	if err != nil {
		return o.Tx.Queue("SELECT 1 / 0")
	}
	return o.Tx.Queue("SELECT 1")
}

// forgotten leaves the last statement of a call out.
type forgotten struct {
	idem.Tx
	left int
}

func (f *forgotten) is() bool { f.left--; return f.left == 0 }

func (f *forgotten) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if f.is() {
		return f.Tx.Exec(ctx, "SELECT 1")
	}
	return f.Tx.Exec(ctx, sql, args...)
}

func (f *forgotten) Queue(sql string, args ...any) *pgx.QueuedQuery {
	if f.is() {
		return f.Tx.Queue("SELECT 1")
	}
	return f.Tx.Queue(sql, args...)
}
`

const plantedMethod = `
func (p planted) %[1]s(ctx context.Context, tx idem.Tx, e %[1]s) error {
	return p.call(tx, %[1]q, %[2]d, func(tx idem.Tx) error { return p.Handler.%[1]s(ctx, tx, e) })
}
`

// The generated tests find by themselves, without a case, a handler that does nothing, and one
// that writes beside its transaction. A case finds one that forgets a statement. The handlers are
// those of README, the guide and examples. Each test binary is built once; its environment chooses
// the bug. All but that of the guide are played in long runs alone.
func TestBugsOfHandlersAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	handlers := handlers
	if !longtest.Wanted() {
		handlers = handlers[1:2]
	}
	module(t, nil)
	packages := []string{"test", "-c", stripped, "-vet=off", "-o", "bin/"}
	for _, h := range handlers {
		h.make(t, h.name)
		text := fmt.Sprintf(planted, h.name)
		for event, statements := range h.statements {
			text += fmt.Sprintf(plantedMethod, event, statements)
		}
		write(t, filepath.Join(h.name, "planted_test.go"), text)
		edit(t, filepath.Join(h.name, "idem_setup_test.go"), "return Service{}", "return planted{Service{}, db}")
		packages = append(packages, "./"+h.name)
	}
	if out, err := commandtest.GoCommand(t, packages...); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	play := func(t *testing.T, name, bug, tests string) (output string, passed bool) {
		cmd := exec.CommandContext(t.Context(), filepath.Join(here, "bin", name+".test"), "-test.short", "-test.run="+tests)
		cmd.Dir, cmd.Env = filepath.Join(here, name), append(os.Environ(), "PLANTED="+bug)
		out, err := cmd.CombinedOutput()
		return string(out), err == nil
	}
	t.Run("by cases", func(t *testing.T) {
		for _, h := range handlers {
			if cases, _ := filepath.Glob(filepath.Join(here, h.name, "testdata", "cases", "*.yaml")); len(cases) == 0 {
				continue
			}
			for event, statements := range h.statements {
				if statements == 1 {
					continue
				}
				t.Run(h.name+" "+event, func(t *testing.T) {
					t.Parallel()
					if out, passed := play(t, h.name, "forgotten "+event, "^TestCases$"); passed || !strings.Contains(out, "the tables are not what") {
						t.Errorf("it is not found:\n%s", out)
					}
				})
			}
		}
	})
	for _, h := range handlers {
		if err := os.RemoveAll(filepath.Join(here, h.name, "testdata", "cases")); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("by records that are drawn", func(t *testing.T) {
		for _, h := range handlers {
			for bug, says := range map[string]string{"": "", "nothing": "changes no row", "permanent": "changes no row", "outside": " outside tx"} {
				t.Run(strings.TrimSpace(h.name+" "+bug), func(t *testing.T) {
					t.Parallel()
					out, passed := play(t, h.name, bug, "^("+strings.Join(h.tests, "|")+")$")
					if passed != (bug == "") {
						t.Errorf("passed: %v\n%s", passed, out)
					}
					for _, test := range h.tests {
						if failed := strings.Contains(out, "--- FAIL: "+test+"/handlers/"); failed != (bug != "") {
							t.Errorf("%s fails: %v", test, failed)
						}
					}
					said := func(event string) bool {
						return slices.ContainsFunc(strings.Split(out, "\n"), func(line string) bool {
							return strings.Contains(line, "the handler of "+event+" (handler.go:") && strings.Contains(line, says)
						})
					}
					found := 0
					for event := range h.statements {
						if said(event) {
							found++
						}
					}
					if bug != "" && found < len(h.tests) || says == "changes no row" && found < len(h.statements) {
						t.Errorf("it names %d handlers of %d:\n%s", found, len(h.statements), out)
					}
				})
			}
		}
	})
}
