package main

import (
	"bytes"
	"debug/elf"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/scripts/longtest"
)

// services are the ways from init to a service, each in a folder of one module.
var services = []struct {
	name string
	make func(t *testing.T, name string)
}{
	{"handled", ownWithGoCode},
	{"described", describedAsItIs},
	{"sample", sample},
	{"unwritten", unwritten},
}

// stripped leaves out what only a debugger reads: it takes as long as the rest of linking.
const stripped = "-ldflags=-s -w"

// What init says leads to services that compile and pass their tests: the sample as it is, a spec
// of one's own in its place, and one of a database. One go command tries all of them. A case for
// which nothing was generated fails.
//
// Each plays one scenario with the records that were generated, and all cases: the packages of
// testdata/golden play all scenarios. The long run does so here, too,
// and vets the services.
func TestServicesPassTheirTests(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	module(t, nil)
	for _, s := range services {
		t.Run(s.name, func(t *testing.T) { s.make(t, s.name) })
	}
	if t.Failed() {
		return
	}
	args := []string{"test", "-v", stripped, "./..."}
	if longtest.Wanted() {
		args = append(args, "-vet=all")
	} else {
		args = append(args, "-vet=off", "-run", "^TestCases$|//^one_by_one$")
	}
	out, err := goCommand(t, args...)
	for _, want := range []string{
		"ok  \texample.com/orders/handled\t", "ok  \texample.com/orders/described\t",
		"--- PASS: TestOrdersV1/handlers/one_by_one ", "--- PASS: TestReturnsV1/handlers/one_by_one ", "--- PASS: TestEventsV1/spec/one_by_one ",
		"--- PASS: TestCases/order_paid ",
		"--- FAIL: TestCases/paid ", "paid.yaml is new: run idemgen generate",
		"idemtest: MailWanted is not written: write it at handler.go:", "OrderReturned is not written: write it at handler.go:",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("go test does not print %q", want)
		}
	}
	if failed := strings.Count(out, "--- FAIL: "); err == nil || failed != 7 { // TestCases and the case; two topics' tests of code that is not written
		t.Errorf("%d tests fail: %v", failed, err)
	}
	if t.Failed() {
		t.Fatal(out)
	}
	asksForItsAddresses(t, "sample")
}

// stopsWell starts a program, and tells it to stop once it has applied a record and says so in its
// metrics: that is no error.
func stopsWell(t *testing.T, program, name string) {
	t.Helper()
	db := idemtest.DB(t)
	idemtest.Migrate(t, db, name+"/migrations")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	brokers := idemtest.Kafka(t, map[string]int32{"orders.v1": 1}).Addr()
	var log bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Stderr = &log
	cmd.Env = []string{"DATABASE_URL=" + db.Config().ConnString(), "KAFKA_BROKERS=" + brokers, "HTTP_ADDR=" + address}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		answer, err := http.Get("http://" + address + "/readyz")
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Now().After(end) {
			_ = cmd.Process.Kill()
			t.Fatalf("it is never ready: %v\n%s", cmd.Wait(), log.String())
		}
	}
	produceAnOrder(t, brokers)
	for end := time.Now().Add(30 * time.Second); !hasOrder(t, db); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			_ = cmd.Process.Kill()
			t.Fatalf("the record is not applied: %v\n%s", cmd.Wait(), log.String())
		}
	}
	answer, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if metrics, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(metrics), "\nidemgen_healthy{consumer=") {
		t.Errorf("%v, %s", err, metrics)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("the end is an error: %v\n%s", err, log.String())
	}
}

// hasOrder reports whether an order is there.
func hasOrder(t *testing.T, db *pgxpool.Pool) (yes bool) {
	t.Helper()
	if err := db.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM orders)`).Scan(&yes); err != nil {
		t.Fatal(err)
	}
	return yes
}

// produceAnOrder sends a record of the sample.
func produceAnOrder(t *testing.T, brokers string) {
	t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(brokers))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const id = "00000000-0000-4000-8000-000000000001"
	err = c.ProduceSync(t.Context(), &kgo.Record{
		Topic: "orders.v1", Key: []byte(id), Value: []byte(`{"order_id":"` + id + `","total":"30.00"}`),
		Headers: []kgo.RecordHeader{{Key: "event-type", Value: []byte("order.placed")}, {Key: "Idempotency-Key", Value: []byte("1")}},
	}).FirstErr()
	if err != nil {
		t.Fatal(err)
	}
}

// With the client that needs no cgo, the program of the sample is one file that needs no library,
// and applies records.
func TestServiceWithoutCgoIsStatic(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	module(t, nil)
	refused(t, `there is no Kafka client "kafka": it is one of confluent, franz`, "init", "--client", "kafka")
	must(t, "init", "--client", "franz", "static")
	t.Setenv("CGO_ENABLED", "0")
	program := filepath.Join(t.TempDir(), "service")
	if out, err := goCommand(t, "build", stripped, "-o", program, "./static/cmd/static"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file, err := elf.Open(program)
	if err != nil {
		t.Skip(err) // it is another kind of file here
	}
	defer file.Close()
	if libraries, err := file.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("it needs %q, %v", libraries, err)
	}
	stopsWell(t, program, "static")
}

// asksForItsAddresses builds the program of a service, which says what it must be told.
func asksForItsAddresses(t *testing.T, name string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "service")
	if out, err := goCommand(t, "build", stripped, "-o", program, "./"+name+"/cmd/"+name); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, tc := range []struct{ set, missing string }{{"DATABASE_URL=x", "KAFKA_BROKERS"}, {"KAFKA_BROKERS=x", "DATABASE_URL"}} {
		cmd := exec.CommandContext(t.Context(), program)
		cmd.Env = []string{tc.set}
		if text, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(text), tc.missing+" is not set") {
			t.Errorf("with %s only: %v\n%s", tc.set, err, text)
		}
	}
	stopsWell(t, program, name)
}

// A spec of one's own without Go code compiles in the place of the sample, too.
func TestSpecWithoutGoCodeTakesThePlaceOfTheSample(t *testing.T) {
	module(t, nil)
	inPlaceOfTheSample(t, "plain", spec)
	t.Chdir("..")
	compiles(t)
}

// sample is what init leaves, and a case for which nothing was generated.
func sample(t *testing.T, name string) {
	must(t, "init", name)
	t.Chdir(name)
	must(t, "check")
	write(t, "testdata/cases/paid.yaml", read(t, "testdata/cases/order_paid.yaml"))
}

// unwritten is a service with Go code that nobody has written yet.
func unwritten(t *testing.T, name string) {
	write(t, name+"/idemgen.yaml", of(name, spec+second)+`
  mails.v1:
    idempotency_key: {source: {header: id}, window: 8d}
    events:
      MailWanted:
        fields: {address: string}
        effect: {if_interrupted: retry}
`)
	must(t, "generate", name)
}

func ownWithGoCode(t *testing.T, name string) { inPlaceOfTheSample(t, name, spec+second) }

// inPlaceOfTheSample follows the lines that init prints at last, one after the other.
func inPlaceOfTheSample(t *testing.T, name, own string) {
	lines := steps(t, name)
	want := []string{
		"cd " + name, "go get -tool github.com/idemgen/idemgen/cmd/idemgen", "go mod tidy", "go test ./...",
		"rm -r migrations idem.state.yaml handler.go idem_setup_test.go testdata/cases cmd/" + name + "/main.go", "go tool idemgen init", "go tool idemgen case first",
		"go tool idemgen generate && go test ./...", "go tool idemgen dev",
		`for f in migrations/*.sql; do psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -f "$f" || break; done`, "go run ./cmd/" + name,
	}
	if !slices.Equal(lines, want) {
		t.Fatalf("init says\n%s\nnot\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	t.Chdir(name)
	replaced(t, lines[4], of(name, own))
	if files, _ := filepath.Glob("migrations/*.sql"); len(files) != 3 {
		t.Errorf("migrations: %q", files)
	}
}

const withEnum = `
CREATE TYPE tier AS ENUM ('silver', 'gold');
CREATE TABLE orders (order_id uuid PRIMARY KEY, customer_id text NOT NULL, total numeric(12,2) NOT NULL, status text NOT NULL, tier tier NOT NULL DEFAULT 'silver');
CREATE TABLE tiers (tier tier PRIMARY KEY, note text)`

// describedAsItIs is the spec that init writes of a database, where no step writes an enum.
func describedAsItIs(t *testing.T, name string) {
	db := idemtest.DB(t)
	idemtest.Exec(t, db, withEnum)
	lines := steps(t, "--from-db", db.Config().ConnString(), name)
	if !strings.HasSuffix(strings.Join(lines, "\n"), removes(name)+"\ngo tool idemgen init") {
		t.Fatalf("init says\n%s", strings.Join(lines, "\n"))
	}
}

// removes is what init tells to remove before events of one's own come into a spec of a database.
func removes(name string) string {
	return "rm -r migrations idem.state.yaml cmd/" + name + "/main.go"
}

// A spec of a database leads on to events of one's own, first with Go code, then without.
func TestEventsOfOnesOwnTakeThePlaceOfTheSampleOfADatabase(t *testing.T) {
	module(t, nil)
	describedAsItIs(t, "changed")
	t.Chdir("changed")
	described, _, _ := strings.Cut(read(t, "idemgen.yaml"), "\ntopics:\n")
	_, topics, _ := strings.Cut(spec, "\ntopics:\n")
	replaced(t, removes("changed"), described+"\ntopics:\n"+topics+second)
	t.Chdir("..")
	compiles(t)
	t.Chdir("changed")
	replaced(t, removes("changed")+" handler.go idem_setup_test.go", described+"\ntopics:\n"+topics)
	t.Chdir("..")
	compiles(t)
}

// A spec with handlers compiles right after generate, also when its first handler came after the
// set-up of the tests was written.
func TestHandlersCompile(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": spec})
	must(t, "generate")
	compiles(t)
	write(t, "idemgen.yaml", spec+second)
	must(t, "generate")
	compiles(t)
}

// of is a spec of consumer order-projector under another name.
func of(name, text string) string {
	return strings.NewReplacer("order-projector", name, "package: orders", "package: "+name).Replace(text)
}

// steps are the commands that init prints at last.
func steps(t *testing.T, args ...string) (lines []string) {
	t.Helper()
	code, stdout, stderr := run(t, append([]string{"init"}, args...)...)
	if code != done {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	_, last, _ := strings.Cut(stderr, "\nNow make the module complete:\n")
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
	if code, stdout, stderr := run(t, "init"); code != done || strings.Contains(stderr, "roll out without going back") {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if strings.Contains(own, "handle: true") {
		write(t, "handler.go", strings.NewReplacer("fmt.Errorf(\"OrderReturned: %w\", idem.ErrNotImplemented)", "nil", "\t\"fmt\"\n", "").Replace(read(t, "handler.go")))
	}
	must(t, "generate")
	must(t, "check")
}
