package dev

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// output is what dev and the service say.
type output struct{ transcript.Buffer }

// says waits until the output has a text so often.
func (o *output) says(t *testing.T, text string, times int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); strings.Count(o.String(), text) < times; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("nothing says %q %d times:\n%s", text, times, o.String())
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const program = `package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	_ "example.com/shop"
)

func main() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go http.ListenAndServe(os.Getenv("HTTP_ADDR"), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	fmt.Println("VERSION", os.Getenv("KAFKA_BROKERS") != "", os.Getenv("DATABASE_URL") != "", os.Getenv("LOG_LEVEL"), os.Getenv("REDIS_URL") != "", os.Getenv("SCHEMA_REGISTRY_URL") != "")
	<-stop
	fmt.Println("stopped")
}
`

// dev says of a case whether what it left is what its then says.
func TestWhatIsLeftIsCompared(t *testing.T) {
	for _, tc := range []struct {
		differences string
		err         error
		want        string
	}{
		{"", nil, "dev: case a matches its then\n"},
		{"orders: want 1 row, got 2\nconflict: want 0, got 1", nil, "dev: case a differs from its then:\n  orders: want 1 row, got 2\n  conflict: want 0, got 1\n"},
		{"", errors.New("no table"), "dev: case a: its then was not compared: no table\n"},
	} {
		out := &output{}
		r := &run{Options: Options{Out: out}, place: &place{database: "x"}}
		r.compare(t.Context(), Sample{Name: "case a", Check: func(context.Context, string, bool) (string, error) {
			return tc.differences, tc.err
		}})
		if out.String() != tc.want {
			t.Errorf("got %q, want %q", out, tc.want)
		}
	}
}

// sample is three records of a topic.
func sample(name, rows, topic string) Sample {
	s := Sample{Name: name, Rows: rows}
	for i, key := range []string{"a", "b", "a"} {
		s.Records = append(s.Records, Record{Event: "Put", Message: idem.Message{
			Topic: topic, Key: []byte(key), Value: fmt.Appendf(nil, `packed {"v":%d}`, i+1), Headers: []idem.Header{{Name: "type", Value: []byte("put")}},
		}, Again: true})
	}
	return s
}

// A service is built, started, and sent records; a change of a file ends it and starts it anew, a
// mistake waits for the change that mends it, and the end of dev is that of the service.
func TestServiceIsRunAgainAfterEachChange(t *testing.T) {
	dir := t.TempDir()
	main := filepath.Join(dir, "cmd", "shop", "main.go")
	write(t, filepath.Join(dir, "go.mod"), "module example.com/shop\n\ngo 1.26\n")
	write(t, filepath.Join(dir, "shop.go"), "package shop\n")
	write(t, main, strings.Replace(program, "VERSION", "one", 1))
	first := filepath.Join(dir, "migrations", "0001_first.sql")
	write(t, first, "CREATE TABLE a (id int PRIMARY KEY);\n")
	write(t, filepath.Join(dir, "migrations", "0002_outbox.sql"), outbox.Migration(outbox.ByRelay))
	write(t, filepath.Join(dir, "testdata", "idem_external.sql"), "CREATE TABLE theirs (id int)")
	ctx, cancel := context.WithCancel(t.Context())
	out := &output{}
	ended := make(chan error, 1)
	var asked atomic.Pointer[Parts]
	live := func(topic string) {
		const event = "; INSERT INTO idem_outbox (aggregatetype, aggregateid, type) VALUES ('shop', 'k', 'Closed')"
		some, same := sample("case some", "INSERT INTO a VALUES (1); INSERT INTO theirs VALUES (1)"+event, "shop.old"), sample("case same", "INSERT INTO a VALUES (1)", "shop.old")
		some.InOrder = true
		asked.Store(&Parts{filepath.Join(dir, "migrations"), []Topic{{Names: []string{topic, "shop.old"}}}, []Sample{
			sample("case full", "INSERT INTO none VALUES (1)", topic), some, same, sample("the test", "", topic),
		}})
	}
	live("shop.live")
	go func() {
		ended <- Run(ctx, Service{
			Dir: dir,
			Generate: func(context.Context) (Parts, error) {
				return *asked.Load(), nil
			},
		}, Options{Partitions: 2, Pause: time.Millisecond, Out: out, Pages: func(context.Context, string) (string, error) { return "PAGES", nil }})
	}()
	out.says(t, "dev: building example.com/shop/cmd/shop", 1)
	out.says(t, "one true true debug", 4) // once for each sample, which has a database of its own
	out.says(t, "dev: sent Put: topic=shop.old partition=0 offset=2", 1)
	out.says(t, "dev: sent Put, again (a copy of offset 0): topic=shop.old partition=0 offset=3", 1)
	out.says(t, "dev: the service sent: topic=outbox.event.shop partition=", 1) // before the next sample
	out.says(t, "dev: case same\n", 1)
	out.says(t, "dev: sent Put: topic=shop.old", 6)
	out.says(t, "dev: sent Put: topic=shop.live", 3)
	out.says(t, "dev: sent Put, again (a copy of offset 0): topic=shop.live", 1)
	out.says(t, "all 9 records of the tests were sent, 3 of them twice", 1)
	out.says(t, "printf '%s' 'packed {\"v\":3}' | kcat -P -b 127.0.0.1:", 1)
	out.says(t, " -t shop.live -k 'a' -H 'type=put'", 1)
	out.says(t, `case full is left out: its rows: ERROR: relation "none" does not exist`, 1)

	write(t, main, strings.Replace(program, "<-stop", "mistake", 1))
	out.says(t, "undefined: mistake", 1)
	out.says(t, "dev: the service continues unchanged; waiting for a file to change", 1)
	if strings.Count(out.String(), "stopped") != 3 {
		t.Errorf("a mistake ended what ran before it:\n%s", out)
	}
	write(t, main, strings.Replace(program, "VERSION", "two", 1))
	out.says(t, "two true true debug", 4)
	out.says(t, "all 9 records of the tests were sent", 2)
	write(t, first, "CREATE TABLE a (id mistake);\n")
	out.says(t, `type "mistake" does not exist`, 1)
	write(t, first, "CREATE TABLE a (id int);\n")
	out.says(t, "all 9 records of the tests were sent", 3)
	live("shop.new")
	write(t, filepath.Join(dir, "testdata", "cases", "some.yaml"), "description: another one\n")
	out.says(t, "dev: sent Put: topic=shop.new", 3)
	write(t, main, strings.Replace(strings.Replace(program, "VERSION", "three", 1), "<-stop", "os.Exit(3)", 1))
	out.says(t, "dev: the service ended (exit status 3)", 1)

	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if n := strings.Count(out.String(), "stopped"); n != strings.Count(out.String(), "dev: the service was started")-1 {
		t.Errorf("the service was stopped %d times:\n%s", n, out)
	}
	if n := strings.Count(out.String(), "Kafka     kcat"); n != 4 {
		t.Errorf("%d brokers with all records were started, want 4:\n%s", n, out)
	}
	if n := strings.Count(out.String(), "dev: Pages     PAGES\n"); n != 1 || strings.Contains(out.String(), "the brokers are yours") {
		t.Errorf("pages were served %d times, or the brokers are not dev's:\n%s", n, out)
	}
	_, database, _ := strings.Cut(out.String(), "dev: Postgres  psql '")
	database, _, _ = strings.Cut(database, "'")
	if conn, err := pgx.Connect(t.Context(), database); err == nil {
		_ = conn.Close(t.Context())
		t.Error("the database outlives dev")
	}
}

// With Keep a change leaves rows and log as they are, as long as it only adds migrations. A
// program with leases in Redis is given one.
func TestRowsStayOnRequest(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), `module example.com/shop

go 1.26

require github.com/idemgen/idemgen v0.0.0

replace github.com/idemgen/idemgen => ./runtime
`)
	write(t, filepath.Join(dir, "runtime", "go.mod"), "module github.com/idemgen/idemgen\n\ngo 1.26\n")
	write(t, filepath.Join(dir, "runtime", "runtime", "redislease", "lease.go"), "package redislease\n")
	write(t, filepath.Join(dir, "shop.go"), "package shop\n\nimport _ \"github.com/idemgen/idemgen/runtime/redislease\"\n")
	write(t, filepath.Join(dir, "main", "main.go"), strings.Replace(program, "VERSION", "one", 1))
	first := filepath.Join(dir, "migrations", "0001_first.sql")
	write(t, first, "CREATE TABLE a (id int);\n")
	ctx, cancel := context.WithCancel(t.Context())
	out := &output{}
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Service{
			Dir: dir,
			Generate: func(context.Context) (Parts, error) {
				return Parts{filepath.Join(dir, "migrations"), []Topic{{Names: []string{"shop.v1", "shop.v2"}, Schemas: []Schema{{"-value", `"string"`, 70000}}}, {Names: []string{"other.v1"}, Schemas: []Schema{{"-value", `"string"`, 70000}}}}, []Sample{sample("the test", "", "shop.v1")}}, nil
			},
		}, Options{Partitions: 1, Pause: time.Millisecond, Keep: true, Out: out})
	}()
	out.says(t, "one true true debug true true", 1)
	out.says(t, "all 3 records of the tests were sent", 1)
	write(t, filepath.Join(dir, "migrations", "0002_second.sql"), "ALTER TABLE a ADD COLUMN b int;\n")
	out.says(t, "dev: 0002_second.sql was applied", 1)
	out.says(t, "dev: kept the rows and the log; nothing is resent", 1)
	out.says(t, "one true true debug true true", 2)
	if strings.Count(out.String(), "Kafka     kcat") != 1 || strings.Count(out.String(), "redis-cli") != 1 {
		t.Errorf("more than one broker or Redis:\n%s", out)
	}
	write(t, first, "CREATE TABLE a (id bigint);\n")
	out.says(t, "dev: 0001_first.sql changed after it was applied: starting with an empty database", 1)
	out.says(t, "all 3 records of the tests were sent", 2)
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Which program is the service's is found, or asked for.
func TestProgramIsFound(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/shop\n\ngo 1.26\n")
	write(t, filepath.Join(dir, "shop.go"), "package shop\n")
	write(t, filepath.Join(dir, "cmd", "other", "main.go"), "package main\n\nfunc main() {}\n")
	r := &run{Service: Service{Dir: dir}, module: dir}
	find := func(want string) {
		t.Helper()
		found, err := r.main(t.Context())
		if err != nil {
			found = err.Error()
		}
		if found != want {
			t.Errorf("got %q, want %q", found, want)
		}
	}
	find("no program imports example.com/shop: idemgen init writes one, or name yours with --program")
	write(t, filepath.Join(dir, "cmd", "shop", "main.go"), program)
	find("example.com/shop/cmd/shop")
	write(t, filepath.Join(dir, "cmd", "too", "main.go"), program)
	r.Program = "./cmd/other"
	find("./cmd/other")
	r.Program = "."
	find("--program . is not a program")
	r.Program = ""
	find("several programs import example.com/shop: name one with --program: example.com/shop/cmd/shop, example.com/shop/cmd/too")
}
