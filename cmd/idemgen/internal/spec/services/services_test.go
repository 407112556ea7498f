package services

import (
	"bytes"
	"debug/elf"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/internal/kit/port"
	"github.com/idemgen/idemgen/internal/proof/longtest"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// stripped leaves out what only a debugger reads: it takes as long as the rest of linking.
const stripped = "-ldflags=-s -w"

// stopsWell starts a program, and tells it to stop once it has applied a record and says so in its
// metrics: that is no error.
func stopsWell(t *testing.T, program, name string) {
	t.Helper()
	db := idemtest.DB(t)
	idemtest.Migrate(t, db, name+"/migrations")
	address, err := port.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	brokers := idemtest.Kafka(t, map[string]int32{"orders.v1": 1}).Addr()
	var log bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Stderr = &log
	cmd.Env = []string{"DATABASE_URL=" + db.Config().ConnString(), "KAFKA_BROKERS=" + brokers, "HTTP_ADDR=" + address}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
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
	for end := time.Now().Add(time.Minute); !hasOrder(t, db); time.Sleep(20 * time.Millisecond) {
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
	longtest.Skip(t) // all is compiled again without cgo
	module(t, nil)
	must(t, "init", "--client", "franz", "static")
	t.Setenv("CGO_ENABLED", "0")
	program := filepath.Join(t.TempDir(), "service")
	if out, err := commandtest.GoCommand(t, "build", stripped, "-o", program, "./static/cmd/static"); err != nil {
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

// A spec of one's own without Go code compiles in the place of the sample, too.
func TestSpecWithoutGoCodeTakesThePlaceOfTheSample(t *testing.T) {
	module(t, nil)
	inPlaceOfTheSample(t, "plain", commandtest.Spec)
	t.Chdir("..")
	compiles(t)
}

// inPlaceOfTheSample follows the lines that init prints at last, one after the other.
func inPlaceOfTheSample(t *testing.T, name, own string) {
	lines := steps(t, name)
	want := []string{
		"cd " + name, "go get -tool github.com/idemgen/idemgen/cmd/idemgen", "go mod tidy", "go test ./...",
		"rm -r migrations idem.state.yaml handler.go idem_setup_test.go testdata/cases cmd/" + name + "/main.go", "go tool idemgen init", "go tool idemgen case first",
		"go tool idemgen generate && go test ./...", "go tool idemgen dev",
		`for f in migrations/*.sql; do psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -1 -f "$f" || break; done`, "go run ./cmd/" + name,
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
	_, topics, _ := strings.Cut(commandtest.Spec, "\ntopics:\n")
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
	module(t, map[string]string{"idemgen.yaml": commandtest.Spec})
	must(t, "generate")
	compiles(t)
	write(t, "idemgen.yaml", commandtest.Spec+second)
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
	_, last, _ := strings.Cut(stderr, "\nComplete the module:\n")
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
		clause := regexp.MustCompile(`(?m)^package \w+$`).FindString(read(t, "handler.go"))
		write(t, "handler_test.go", clause+"\n\nimport \"github.com/idemgen/idemgen/runtime/idemtest\"\n\nfunc init() { idemtest.ChangesNoRow(\"OrderReturned\") }\n")
	}
	must(t, "generate")
	must(t, "check")
}
