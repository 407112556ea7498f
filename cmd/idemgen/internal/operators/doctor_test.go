package operators

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"
	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// checked runs doctor over the orders example, and returns the lines of one state: what they are
// about, and what was found.
func checked(t *testing.T, state string, args ...string) (lines []string) {
	t.Helper()
	return checkedOf(t, "../../../../examples/orders", state, args...)
}

// checkedOf is checked of any service.
func checkedOf(t *testing.T, folder, state string, args ...string) (lines []string) {
	t.Helper()
	code, out, stderr := run(t, append([]string{"doctor", folder, "--json"}, args...)...)
	var answer struct {
		Checks []struct{ State, About, Found, Advice string }
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatalf("%v\n%s%s", err, out, stderr)
	}
	fails := false
	for _, c := range answer.Checks {
		fails = fails || c.State == "FAIL"
		if c.State == state {
			lines = append(lines, c.About+": "+c.Found)
		}
		if (c.State == "FAIL" || c.State == "warn") && c.Advice == "" {
			t.Errorf("%s: %s: nothing says what to do", c.About, c.Found)
		}
	}
	if fails != (code == different) {
		t.Errorf("exit code %d\n%s", code, out)
	}
	return lines
}

// measures are what differs from run to run.
var measures = regexp.MustCompile(`(PostgreSQL )[0-9].* answers|[0-9][0-9.]*(?:µs|ms)`)

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	for i := range got {
		got[i] = regexp.MustCompile(`^role: \S+`).ReplaceAllString(got[i], "role: it")
		got[i] = regexp.MustCompile(`(dead-letters|no-process|fell-silent) since \S+Z`).ReplaceAllString(got[i], "$1 since T")
		got[i] = strings.ReplaceAll(measures.ReplaceAllString(got[i], "${1}N"), "PostgreSQL N in", "PostgreSQL N answers in")
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const notDurable = "durability: a commit of this server may be lost: fsync or full_page_writes is off" // that of the test kit

// log is a broker with a topic of the shop, and so many records in its first partition.
func log(t *testing.T, partitions int32, records int) string {
	broker := idemtest.Kafka(t, map[string]int32{"orders.v1": partitions})
	for range records {
		if err := broker.Produce(t.Context(), &idem.Message{Topic: "orders.v1"}); err != nil {
			t.Fatal(err)
		}
	}
	return broker.Addr()
}

// A service whose database and topics are as it needs them is told so, a line for each thing. The
// position of the shop is 7.
func TestDoctorFindsAServiceWell(t *testing.T) {
	shop(t)
	brokers := log(t, 1, 9)
	wantLines(t, checked(t, "FAIL", "--brokers", brokers), notDurable)
	wantLines(t, checked(t, "ok", "--brokers", brokers),
		"spec: ../../../../examples/orders/idemgen.yaml is in order, and the generated files are current",
		"database: PostgreSQL N answers in N",
		"migrations: the tables of the runtime are there: core, keys",
		"tables: 3 tables in the database as in the spec",
		"kafka: the brokers answer in N",
		"topic orders.v1: 1 partition, 1 with a ledger, at most 2 records not applied yet",
		"retention of orders.v1: records are kept for 7d, and their keys for 8d")
	wantLines(t, checked(t, "warn", "--brokers", brokers),
		"role: it is a superuser: give the service a role with fewer rights",
		"processes: no process of order-projector is left, no-process: no process of order-projector reports itself: none runs, or none reaches this database; the last one ended in order",
		"dead letters: 2 dead letters, dead-letters since T: records were passed without effect: 1 of them, conflict: OrderPlaced: the key was used before by an event with different content; the first copy is in the same batch",
		"group order-projector: it has no members: the service does not run")
}

// A log that does not fit the ledger is told, with the section of the manual.
func TestDoctorComparesTheLogWithTheLedger(t *testing.T) {
	t.Parallel()
	shop := at(aShop(t))
	wantLines(t, checked(t, "FAIL", shop, "--brokers", log(t, 1, 6)), notDurable, "partition orders.v1/0: the topic ends at offset 6, and the next record to apply is 7: Kafka lost records that were applied, or this is another cluster")
	wantLines(t, checked(t, "FAIL", shop, "--brokers", log(t, 2, 9)), notDurable, "partition orders.v1/0: the topic has 2 partitions, and had 1 when the ledger was written")
	wantLines(t, slices.DeleteFunc(checked(t, "skip", shop, "--brokers", log(t, 2, 9)), func(l string) bool { return !strings.HasPrefix(l, "topic") }), "topic orders.v1: 1 partition without a ledger yet")
	other := idemtest.Kafka(t, map[string]int32{"others.v1": 1})
	wantLines(t, checked(t, "FAIL", shop, "--brokers", other.Addr()), notDurable, "topic orders.v1: the brokers have no topic of this name, or this client may not see it")
}

// A partition that makes no progress although a record waits and a process is there is named as a
// problem. Behind the position there may be markers of transactions only: they are no record.
func TestDoctorFindsAPartitionThatMakesNoProgress(t *testing.T) {
	for name, ago := range map[string]int{"of the past": 5, "of the future": -120} {
		t.Run(name, func(t *testing.T) { findsNoProgress(t, ago) })
	}
}

func findsNoProgress(t *testing.T, ago int) {
	t.Parallel()
	db := aShop(t)
	broker := idemtest.Kafka(t, map[string]int32{"orders.v1": 1})
	minutes := func(ago int) *idem.Message {
		return &idem.Message{Topic: "orders.v1", Time: time.Now().Add(-time.Duration(ago) * time.Minute)}
	}
	for range 7 {
		if err := broker.Produce(t.Context(), minutes(9)); err != nil {
			t.Fatal(err)
		}
	}
	if err := broker.ProduceTransaction(t.Context(), false, minutes(9)); err != nil {
		t.Fatal(err)
	}
	member, err := kgo.NewClient(kgo.SeedBrokers(broker.Addr()), kgo.ConsumerGroup("order-projector"), kgo.ConsumeTopics("orders.v1"))
	if err != nil {
		t.Fatal(err)
	}
	defer member.CloseAllowingRebalance()
	for end := time.Now().Add(time.Minute); len(checkedAbout(t, "group", "ok", db, broker.Addr())) == 0; {
		if time.Now().After(end) {
			t.Fatal("no member is in the group")
		}
	}
	idemtest.Exec(t, db, `UPDATE idem_ledger SET written_at = written_at - interval '3 minutes'`)
	wantLines(t, checkedAbout(t, "partition", "FAIL", db, broker.Addr()))
	wantLines(t, checkedAbout(t, "topic", "ok", db, broker.Addr()), "topic orders.v1: 1 partition, 1 with a ledger, at most 2 records not applied yet")
	if err := broker.Produce(t.Context(), minutes(ago)); err != nil {
		t.Fatal(err)
	}
	found := checkedAbout(t, "partition", "FAIL", db, broker.Addr())
	for i := range found {
		found[i] = regexp.MustCompile(`3m\d+s`).ReplaceAllString(found[i], "3m")
	}
	wantLines(t, found, "partition orders.v1/0: no progress for 3m, although the record at offset 9 waits and the group has members")
	wantLines(t, checkedAbout(t, "topic", "ok", db, broker.Addr()))
}

// A log that was cut and has grown past the position again is recognized by its leader epochs.
func TestDoctorComparesLeaderEpochs(t *testing.T) {
	t.Parallel()
	db := aShop(t)
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "orders.v1"))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	brokers := cluster.ListenAddrs()[0]
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	produce := func(records int) {
		t.Helper()
		for range records {
			if err := client.ProduceSync(t.Context(), &kgo.Record{Topic: "orders.v1"}).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
	}
	produce(5)
	if err := cluster.MoveTopicPartition("orders.v1", 0, 0); err != nil {
		t.Fatal(err)
	}
	produce(4)
	details, err := kadm.NewClient(client).ListTopics(t.Context(), "orders.v1")
	if err != nil {
		t.Fatal(err)
	}
	id := details["orders.v1"].ID
	idemtest.Exec(t, db, fmt.Sprintf(`UPDATE idem_stream SET topic_id = '%x'`, id[:]))
	for epoch, want := range map[int][]string{
		1: nil,
		0: {"partition orders.v1/0: the log was truncated at offset 5, where leader epoch 0 ends, before the position 7: records written since then have offsets that count as applied"},
		2: {"partition orders.v1/0: the log has no leader epoch 2, under which the records before the position 7 were read: the cluster was restored to an earlier state, or replaced"},
	} {
		idemtest.Exec(t, db, fmt.Sprintf(`UPDATE idem_ledger SET epoch = %d`, epoch))
		wantLines(t, checkedAbout(t, "partition", "FAIL", db, brokers), want...)
	}
}

// checkedAbout is checked, of lines about one kind of thing.
func checkedAbout(t *testing.T, about, state string, db *pgxpool.Pool, brokers string) []string {
	t.Helper()
	return slices.DeleteFunc(checked(t, state, at(db), "--brokers", brokers), func(l string) bool { return !strings.HasPrefix(l, about+" ") })
}

// Where there is an outbox, doctor says what waits there and who leads. The query of the manual
// finds the session of that one, and ends it.
func TestDoctorLooksAtTheOutbox(t *testing.T) {
	db := shop(t)
	t.Setenv("KAFKA_BROKERS", "")
	line := func(state string) string {
		for _, l := range checked(t, state) {
			if strings.HasPrefix(l, "outbox: ") {
				return l
			}
		}
		return ""
	}
	if got := line("ok") + line("skip") + line("FAIL"); got != "" {
		t.Errorf("without an outbox: %s", got)
	}
	idemtest.Exec(t, db, outbox.Migration(outbox.ByRelay))
	want := func(state, text string) {
		t.Helper()
		if got := line(state); !regexp.MustCompile("^outbox: " + text + "$").MatchString(got) {
			t.Errorf("%s: %q, want %q", state, got, text)
		}
	}
	want("ok", "all events are sent, and no relay leads")
	if err := outbox.Write(t.Context(), db, outbox.Event{AggregateType: "a", AggregateID: "1", Type: "T"}); err != nil {
		t.Fatal(err)
	}
	want("warn", `unsent: 1 event, the first one for \d+s, and no relay leads`)
	// The relay does not report that the broker is slow to answer.
	idemtest.Exec(t, db, `CREATE FUNCTION quiet() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; CREATE TRIGGER quiet BEFORE INSERT ON idem_process FOR EACH ROW EXECUTE FUNCTION quiet()`)
	relay := &outbox.Relay{DB: db, Producer: mute{}, Logger: slog.New(slog.DiscardHandler)}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- relay.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	for end := time.Now().Add(time.Minute); !relay.Stats().Leading && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	const leader = `idemgen outbox, .*pid \d+ of Postgres, since 20\S+Z`
	want("ok", "unsent: 1 event, and a relay leads: "+leader)
	idemtest.Exec(t, db, `UPDATE idem_outbox SET written_at = now() - interval '2 minutes'`)
	want("FAIL", `events wait in the outbox, outbox-held since \S+: the first event has waited for 2m\d+s, although a relay leads: `+leader)
	_, section, _ := strings.Cut(read(t, "../../../../docs/operations.md"), "### The outbox is stuck\n")
	_, sql, _ := strings.Cut(section, "```sql\n")
	sql, _, _ = strings.Cut(sql, "```")
	var ends int
	if err := db.QueryRow(t.Context(), "WITH q AS ("+strings.TrimSuffix(strings.TrimSpace(sql), ";")+") SELECT count(*) FROM q WHERE pg_terminate_backend").Scan(&ends); err != nil || ends != 1 {
		t.Errorf("%d sessions were ended: %v\n%s", ends, err, sql)
	}
}

// mute is a broker that never answers.
type mute struct{}

func (mute) Produce(_ outbox.Record, done func(error)) {
	time.AfterFunc(time.Second, func() { done(errors.New("no answer")) })
}
func (mute) Purge() {}

// What is not named is skipped, and what is missing or cannot be reached is said.
func TestDoctorSaysWhatIsMissing(t *testing.T) {
	t.Setenv("DATABASE_URL", "")
	t.Setenv("KAFKA_BROKERS", "")
	wantLines(t, checked(t, "skip"), "database: not examined: no address was given", "kafka: not examined: no address was given")
	t.Setenv("DATABASE_URL", idemtest.DB(t).Config().ConnString())
	wantLines(t, checked(t, "FAIL", "--brokers", "127.0.0.1:1"), notDurable,
		"migrations: the database lacks tables of the runtime that this service needs, or has older ones",
		"tables: there is no table orders in the database", "tables: there is no table order_items in the database", "tables: there is no table payments in the database",
		"kafka: the brokers do not respond: unable to dial: dial tcp 127.0.0.1:1: connect: connection refused")
}

// Where leases are in Redis, doctor warns of what the service warns of when it starts. The user
// that docs/production.md describes may ask.
func TestDoctorAsksRedis(t *testing.T) {
	t.Setenv("DATABASE_URL", "")
	t.Setenv("KAFKA_BROKERS", "")
	redis := idemtest.StartRedis(t)
	url := "redis://" + redis.Addr()
	inMemory := "redis: Redis " + redis.Addr() + ": appendonly is off, and it has no replica: a restart loses all leases, and their calls are made twice"
	asked := func(state string, args ...string) (lines []string) {
		for _, line := range checkedOf(t, "../../../../examples/welcome-mail", state, args...) {
			if strings.HasPrefix(line, "redis: ") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	wantLines(t, asked("skip"), "redis: not examined: no address was given; leases are in Postgres by default")
	wantLines(t, asked("warn", "--redis", url), inMemory)
	_, page, _ := strings.Cut(read(t, "../../../../docs/production.md"), "\nACL SETUSER ")
	user, _, _ := strings.Cut(page, "\n")
	if _, err := redis.Do(t.Context(), append([]string{"ACL", "SETUSER"}, strings.Fields(user)...)...); err != nil {
		t.Fatal(err)
	}
	wantLines(t, asked("warn", "--redis", "redis://notifications:secret@"+redis.Addr()), inMemory)
	if _, err := redis.Do(t.Context(), "CONFIG", "SET", "maxmemory-policy", "allkeys-lru"); err != nil {
		t.Fatal(err)
	}
	wantLines(t, asked("warn", "--redis", url), inMemory, "redis: Redis "+redis.Addr()+": maxmemory-policy is allkeys-lru: if a lease is evicted, its call may be made twice; set noeviction")
	for name, value := range map[string]string{"maxmemory-policy": "noeviction", "appendonly": "yes"} {
		if _, err := redis.Do(t.Context(), "CONFIG", "SET", name, value); err != nil {
			t.Fatal(err)
		}
	}
	wantLines(t, asked("ok", "--redis", url), "redis: no setting is known to make it lose leases")
	wantLines(t, asked("FAIL", "--redis", "nonsense:"), "redis: --redis, or $REDIS_URL, is not a valid address of a Redis")
	_, out, _ := run(t, "doctor", "../../../../examples/welcome-mail", "--redis", "redis://127.0.0.1:1")
	if !strings.Contains(out, "connection refused") || !strings.Contains(out, "= check that it runs, that the address is right") {
		t.Errorf("nothing listens there:\n%s", out)
	}
}

// A broker that is too old to give topic ids is a failure: the service reads nothing of it.
func TestDoctorRefusesABrokerWithoutTopicIDs(t *testing.T) {
	shop(t)
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "orders.v1"), kfake.MaxVersions(kversion.V2_7_0()))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	wantLines(t, checked(t, "FAIL", "--brokers", cluster.ListenAddrs()[0]), notDurable,
		"topic orders.v1: the broker gives no topic id, so the service does not read it")
}

// Each version of a topic's schema in the registry is held against the file of the spec.
func TestDoctorComparesSchemas(t *testing.T) {
	t.Chdir(t.TempDir())
	const own = `{"type":"record","name":"Paid","fields":[{"name":"id","type":"string"},{"name":"cents","type":"long","default":0}]}`
	module(t, map[string]string{"paid.avsc": own, "idemgen.yaml": `version: 1
consumer: c
package: p
tables: {paid: {primary_key: [id], columns: {id: text, cents: bigint}}}
topics:
  paid.v1:
    payload: {encoding: confluent_avro, schema: paid.avsc}
    idempotency_key: {source: id, window: 1d}
    events: {Paid: {write: [{insert: paid}]}}
`})
	commandtest.Generate(t)
	schemas := func(state, url string) (lines []string) {
		return slices.DeleteFunc(checkedOf(t, ".", state, "--registry", url), func(line string) bool { return !strings.HasPrefix(line, "schemas") })
	}
	wantLines(t, schemas("skip", ""), "schemas: not examined: no address was given")
	fake := srfake.New()
	defer fake.Close()
	wantLines(t, schemas("warn", fake.URL()), "schemas of paid.v1: the registry has none of the subjects paid.v1-value, Paid, paid.v1-Paid")
	fake.SeedSchema("paid.v1-value", 1, 7, sr.Schema{Schema: own})
	fake.SeedSchema("Paid", 1, 9, sr.Schema{Schema: own})
	wantLines(t, schemas("ok", fake.URL()), "schemas of paid.v1: 2 in the registry, which fit the spec's")
	fake.SeedSchema("paid.v1-Paid", 1, 8, sr.Schema{Schema: strings.Replace(own, `"string"`, `"int"`, 1)})
	wantLines(t, schemas("warn", fake.URL()), "schemas of paid.v1: 1 of 3 differ from the spec's by the rules of Avro: version 1 of paid.v1-Paid, schema 8: avro: incompatible at id: reader string vs writer int: incompatible types")
	if lines := schemas("FAIL", "http://name:secret@127.0.0.1:1"); len(lines) != 1 || !strings.HasPrefix(lines[0], "schemas of paid.v1: the schema registry does not respond: ") || strings.Contains(lines[0], "secret") {
		t.Errorf("%q", lines)
	}
}
