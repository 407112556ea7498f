package here

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/internal/proof/longtest"
)

func TestMain(m *testing.M) { commandtest.Main(m) }

// watched is what a command has printed so far.
type watched struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *watched) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *watched) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// One server of the user's is not enough, and the error names the flag that is missing.
func TestDevNeedsBothServersOrNone(t *testing.T) {
	for given, missing := range map[string]string{"--database": "--brokers HOST:PORT", "--brokers": "--database URL"} {
		out := &watched{}
		code := command.Run(t.Context(), []string{"dev", "../../../../examples/orders", given, "x"}, out, out, Commands()...)
		if want := given + " also needs " + missing; code == command.Done || !strings.Contains(out.String(), want) {
			t.Errorf("%s alone: exit code %d, want %q\n%s", given, code, want, out)
		}
	}
}

// runDevOn runs idemgen dev on a folder until something holds of what it has printed, and returns
// that.
func runDevOn(t *testing.T, dir string, holds func(out string) bool) string {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	out, ended := &watched{}, make(chan int, 1)
	go func() { ended <- command.Run(ctx, []string{"dev", "--pause", "1ms", dir}, out, out, Commands()...) }()
	for limit := time.Now().Add(4 * time.Minute); !holds(out.String()); time.Sleep(50 * time.Millisecond) {
		gaveUp := strings.Contains(out.String(), "nothing more is sent") || strings.Contains(out.String(), "waiting for a file to change")
		if gaveUp || time.Now().After(limit) {
			t.Errorf("dev has not come to what is expected:\n%s", out)
			break
		}
	}
	end()
	if code := <-ended; code != command.Done {
		t.Errorf("dev ended with code %d:\n%s", code, out)
	}
	return out.String()
}

// documentedOutbox is a service with the table and the event of docs/outbox.md, and one header.
func documentedOutbox(t *testing.T) string {
	t.Helper()
	_, page, _ := strings.Cut(commandtest.Read(t, filepath.Join(commandtest.Repository, "docs", "outbox.md")), "\n## From a spec\n")
	tables := commandtest.Block(t, page, "yaml")
	_, page, _ = strings.Cut(page, tables)
	events := commandtest.Block(t, page, "yaml")
	tables = strings.Replace(tables, "      payload:", "      tenant: nullable text\n      payload:", 1)
	events = strings.Replace(events, "payload: event}", "payload: event, tenant: {value: \"a\\u202eb\"}}", 1)
	return "version: 1\nconsumer: people\npackage: people\n" + tables + `topics:
  users.v1:
    idempotency_key: {source: {header: id}, window: 8d}
    event_type: {header: type}
` + "    " + strings.ReplaceAll(strings.TrimSpace(events), "\n", "\n    ") + "\n"
}

// dev makes the outbox of a spec as its own migration does, sends its events to topics that it
// makes, and prints each in a line that no terminal acts on.
func TestDevSendsTheOutbox(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	commandtest.Module(t, map[string]string{"idemgen.yaml": documentedOutbox(t)})
	commandtest.Write(t, "testdata/cases/created.yaml", `description: A person is listed.
events:
  - {topic: users.v1, key: "k1\u202e", headers: {type: UserCreated, id: "1"}, value: {name: "Ada \u202e"}}
then: {idem_outbox: [{aggregatetype: person, type: PersonListed}]}
`)
	commandtest.Init(t, generator.Start{Dir: ".", Client: "franz"})
	if out, err := commandtest.GoCommand(t, "list", "./..."); err != nil { // which makes the module complete
		t.Fatalf("%v\n%s", err, out)
	}
	const payload = `key=k1\u202e type=PersonListed payload={"name":"Ada \u202e"}` + "\n"
	out := runDevOn(t, ".", func(out string) bool { return strings.Contains(out, payload) && sentAll(out) })
	if !strings.Contains(out, "dev: case created matches its then\n") {
		t.Errorf("the relay empties the outbox before it is compared:\n%s", out)
	}
	if !regexp.MustCompile(`\ndev: the service sent: topic=outbox\.event\.person partition=\d+ offset=\d+ key=k1`).MatchString(out) {
		t.Errorf("no line says what was sent:\n%s", out)
	}
	if strings.ContainsAny(out, "\u202e") || strings.Contains(out, "ERROR") {
		t.Errorf("dev prints\n%s", out)
	}
}

// sentAll reports whether dev has sent all records.
func sentAll(out string) bool { return strings.Contains(out, " records of the tests were sent") }

// documentedSpecs are the whole specs of README and docs, by page and number. keys.md shows one
// whose lines are of several.
func documentedSpecs(t *testing.T) map[string]string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(commandtest.Repository, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	specs := map[string]string{}
	for _, page := range append(pages, filepath.Join(commandtest.Repository, "README.md")) {
		name := strings.ToLower(strings.TrimSuffix(filepath.Base(page), ".md"))
		for i, shown := range yamlBlocks.FindAllStringSubmatch(commandtest.Read(t, page), -1) {
			indent := shown[1][:len(shown[1])-len(strings.TrimLeft(shown[1], " "))]
			text := strings.TrimPrefix(strings.ReplaceAll("\n"+shown[1], "\n"+indent, "\n"), "\n")
			if strings.HasPrefix(text, "version:") && name != "keys" {
				specs[fmt.Sprintf("%s%d", name, i)] = text
			}
		}
	}
	if specs["outbox"] = documentedOutbox(t); len(specs) < 14 {
		t.Fatalf("README and docs have %d specs", len(specs))
	}
	return specs
}

var (
	yamlBlocks = regexp.MustCompile("(?ms)^ *```yaml\n(.*?)^ *```$")
	notWritten = regexp.MustCompile(`fmt\.Errorf\("\w+: %w", idem\.ErrNotImplemented\)`)
	itsURL     = regexp.MustCompile(`psql '([^']+)'`)
)

// Each spec of the documentation, with handlers that do nothing, runs under dev: all records of
// its generated tests are sent, and each is applied or becomes a dead letter.
func TestDevRunsTheDocumentedSpecs(t *testing.T) {
	longtest.Skip(t)
	commandtest.Module(t, nil)
	t.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" '-ldflags=-s -w'")
	specs := documentedSpecs(t)
	for name, spec := range specs {
		commandtest.Write(t, name+"/idemgen.yaml", spec)
		commandtest.Init(t, generator.Start{Dir: name, Client: "franz"})
		if path := name + "/handler.go"; strings.Contains(spec, "handle: true") || strings.Contains(spec, "effect:") {
			commandtest.Write(t, path, notWritten.ReplaceAllString(commandtest.Read(t, path), "nil")+"\nvar _, _ = fmt.Errorf, idem.ErrNotImplemented\n")
		}
	}
	if out, err := commandtest.GoCommand(t, "list", "./..."); err != nil { // which makes the module complete
		t.Fatalf("%v\n%s", err, out)
	}
	atOnce := make(chan struct{}, 3)
	t.Run("specs", func(t *testing.T) {
		for name := range specs {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				atOnce <- struct{}{}
				defer func() { <-atOnce }()
				out := runDevOn(t, name, func(out string) bool { return sentAll(out) && allPassed(t, out) })
				if strings.Count(out, "\ndev: sent ") == 0 || strings.Contains(out, "level=ERROR") || strings.Contains(out, " is left out: ") {
					t.Errorf("dev prints\n%s", out)
				}
			})
		}
	})
}

// allPassed reports whether the ledger of dev's database has passed each record that dev has sent
// since it was empty.
func allPassed(t *testing.T, out string) bool {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), itsURL.FindStringSubmatch(out)[1])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	passed := 0
	err = conn.QueryRow(t.Context(), `SELECT coalesce(sum(next), 0)::bigint FROM (SELECT max(next) AS next FROM idem_ledger GROUP BY stream) AS tails`).Scan(&passed)
	if err != nil {
		t.Fatal(err)
	}
	return passed == strings.Count(out[strings.LastIndex(out, "\ndev: Kafka "):], "\ndev: sent ")
}

// Cases that share their ids are played each on an empty database, and compared with their then.
// Of the records that tests draw, those are sent that no case shows and nothing refuses.
func TestDevPlaysEachCase(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	commandtest.Module(t, nil)
	commandtest.Init(t, generator.Start{Dir: ".", Client: "franz"})
	paid := commandtest.Read(t, "testdata/cases/order_paid.yaml")
	commandtest.Write(t, "testdata/cases/wrong.yaml", strings.Replace(paid, "paid: 19.90", "paid: 20", 1))
	if out, err := commandtest.GoCommand(t, "list", "./..."); err != nil { // which makes the module complete
		t.Fatalf("%v\n%s", err, out)
	}
	out := runDevOn(t, ".", sentAll)
	for _, want := range []string{
		"dev: building ", "dev: case order_paid matches its then\n",
		"dev: case wrong differs from its then:\n  orders order_id=00000000-0000-4000-8000-000000000001: paid: want 20.00, got 19.90\n",
		"dev: records of orders.v1 for events in no case (OrderPlaced): their values are made up\n", "dev: sent OrderPlaced, again (a copy of offset ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q", want)
		}
	}
	if t.Failed() || strings.Contains(out, "level=WARN") || strings.Contains(out, "is left out") || strings.Count(out, "dev: sent OrderPaid") != 2*(strings.Count(paid, "- topic:")+1) {
		t.Errorf("dev prints\n%s", out)
	}
}
