package main

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

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

// runDevOn runs idemgen dev on a folder until it has printed all that is wanted, and returns what
// it printed.
func runDevOn(t *testing.T, dir string, want ...string) string {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	out, ended := &watched{}, make(chan int, 1)
	go func() { ended <- Run(ctx, []string{"dev", "--pause", "1ms", dir}, out, out) }()
	missing := func(text string) bool { return !strings.Contains(out.String(), text) }
	for limit := time.Now().Add(45 * time.Second); slices.ContainsFunc(want, missing); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Errorf("dev does not print %q:\n%s", slices.DeleteFunc(want, func(w string) bool { return !missing(w) }), out)
			break
		}
	}
	end()
	if code := <-ended; code != done {
		t.Errorf("dev ended with code %d:\n%s", code, out)
	}
	return out.String()
}

// documentedOutbox is a service with the table and the event of docs/outbox.md, and one header.
func documentedOutbox(t *testing.T) string {
	t.Helper()
	_, page, _ := strings.Cut(read(t, filepath.Join(repository(), "docs", "outbox.md")), "\n## From a spec\n")
	tables := block(t, page, "yaml")
	_, page, _ = strings.Cut(page, tables)
	events := block(t, page, "yaml")
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
	module(t, map[string]string{"idemgen.yaml": documentedOutbox(t)})
	write(t, "testdata/cases/created.yaml", `description: A person is listed.
events:
  - {topic: users.v1, key: "k1\u202e", headers: {type: UserCreated, id: "1"}, value: {name: "Ada \u202e"}}
then: {idem_outbox: [{aggregatetype: person, type: PersonListed}]}
`)
	must(t, "init", "--client", "franz")
	if out, err := goCommand(t, "build", "./..."); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out := runDevOn(t, ".", `key=k1\u202e type=PersonListed payload={"name":"Ada \u202e"}`+"\n", "records in the log are passed")
	if !regexp.MustCompile(`\ndev: the service sent: topic=outbox\.event\.person partition=\d+ offset=\d+ key=k1`).MatchString(out) {
		t.Errorf("no line says what was sent:\n%s", out)
	}
	if strings.ContainsAny(out, "\u202e") || strings.Contains(out, "ERROR") {
		t.Errorf("dev prints\n%s", out)
	}
}
