package operators

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	cardcharge "github.com/idemgen/idemgen/examples/card-charge"
	"github.com/idemgen/idemgen/runtime/franz"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// charges is a service that charges cards, with a topic of one partition.
type charges struct {
	t        *testing.T
	broker   *idemtest.Broker
	provider *httptest.Server
	calls    atomic.Int64
}

func newCharges(t *testing.T) *charges {
	c := &charges{t: t, broker: idemtest.Kafka(t, map[string]int32{"charges.v1": 1})}
	c.provider = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"id": fmt.Sprint(c.calls.Add(1)), "at": time.Now()})
	}))
	t.Cleanup(c.provider.Close)
	return c
}

// produce appends requests for charges from first to last.
func (c *charges) produce(first, last int) {
	c.t.Helper()
	for n := first; n <= last; n++ {
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
		m := &idem.Message{Topic: "charges.v1", Key: []byte(id), Value: fmt.Appendf(nil, `{"order_id":%q,"cents":100,"card_token":"t"}`, id),
			Headers: []idem.Header{{Name: "event-type", Value: []byte("ChargeRequested")}, {Name: "Idempotency-Key", Value: []byte(id)}}}
		if err := c.broker.Produce(c.t.Context(), m); err != nil {
			c.t.Fatal(err)
		}
	}
}

// runUntil runs the service on a database until so many charges are there and Health is nil.
func (c *charges) runUntil(db *pgxpool.Pool, want int) {
	c.t.Helper()
	consumer, err := cardcharge.NewConsumer(db, cardcharge.Service{Provider: c.provider.URL, Client: c.provider.Client()}, idem.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(c.t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- consumer.Run(ctx, &franz.Source{Brokers: c.broker.Addr(), Logger: slog.New(slog.DiscardHandler)})
	}()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			c.t.Error(err)
		}
	}()
	var n int
	for end := time.Now().Add(time.Minute); n != want || consumer.Health().Err() != nil; time.Sleep(20 * time.Millisecond) {
		if err := db.QueryRow(c.t.Context(), `SELECT count(*) FROM charges`).Scan(&n); err != nil {
			c.t.Fatal(err)
		}
		if time.Now().After(end) {
			c.t.Fatalf("%d charges, not %d; Health: %v", n, want, consumer.Health().Err())
		}
	}
}

// The commands of docs/production.md bring a backup back. Each lost event is applied again once,
// and its call is made again, as its spec says.
func TestRestoreOfABackupAsDocumented(t *testing.T) {
	_, section, _ := strings.Cut(read(t, "../../../../docs/production.md"), "\n## Restore a backup\n")
	c := newCharges(t)
	db := idemtest.DB(t)
	idemtest.Migrate(t, db, "../../../../examples/card-charge/migrations")
	spec := read(t, "../../../../examples/card-charge/idemgen.yaml")
	module(t, map[string]string{"idemgen.yaml": spec})
	commandtest.Generate(t)
	t.Setenv("KAFKA_BROKERS", c.broker.Addr())
	shell := func(db *pgxpool.Pool, program string) error { // the line of the page that begins with it
		t.Setenv("DATABASE_URL", db.Config().ConnString())
		lines := strings.Split(strings.Join(commandtest.Code(section), "\n"), "\n")
		line := lines[slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, program+" ") })]
		out, err := exec.CommandContext(t.Context(), "sh", "-c", line).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", line, err, out)
		}
		return nil
	}

	c.produce(1, 4)
	c.runUntil(db, 4)
	if err := shell(db, "pg_dump"); err != nil {
		t.Skipf("pg_dump cannot dump this server: %v", err)
	}
	c.produce(5, 10)
	c.runUntil(db, 10)

	restored := idemtest.DB(t)
	if err := shell(restored, "pg_restore"); err != nil {
		t.Fatal(err)
	}
	says := func(want string) func(*testing.T, []string) {
		return func(t *testing.T, args []string) {
			if _, out, stderr := run(t, args...); !strings.Contains(strings.Join(strings.Fields(out+stderr), " "), want) {
				t.Errorf("it does not say %q:\n%s%s", want, out, stderr)
			}
		}
	}
	played := idemgen.Play(t, section, 2, map[string]func(*testing.T, []string){
		"doctor":    says("the database lost commits: consumer card-charger has committed offset 10 in Kafka, and the next record to apply is 4"),
		"dead list": says("no open dead letters"),
	})
	if len(played) != 2 {
		t.Errorf("played: %v", played)
	}
	c.runUntil(restored, 10)
	if n := c.calls.Load(); n != 16 {
		t.Errorf("%d calls, not 10 and 6 again", n)
	}
	if _, out, _ := run(t, "doctor"); !strings.Contains(strings.Join(strings.Fields(out), " "), "records from offset 4 to 9 were applied again") {
		t.Errorf("doctor does not name the restore:\n%s", out)
	}
}
