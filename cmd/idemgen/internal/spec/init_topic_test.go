package spec

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// payments are records of two events on two partitions, one of them sent three times: again at
// once, and after twelve days through the other partition.
func payments(topic string) (all []*idem.Message) {
	start := time.Date(2026, 10, 1, 8, 0, 0, 0, time.UTC)
	add := func(n, partition int, at time.Duration) {
		kind, more := "payment.received", fmt.Sprintf(`"amount":"%d.50","note":null,"tags":["a"]`, n)
		if n%3 == 0 {
			kind, more = "payment.refunded", fmt.Sprintf(`"refundedAt":"2026-10-01T08:00:%02dZ","reason":"secret-%d"`, n, n)
		}
		account := fmt.Sprintf("0b5a4e2e-0000-4000-8000-%012d", n%7)
		all = append(all, &idem.Message{
			Topic: topic, Partition: int32(partition), Key: []byte(account), Time: start.Add(at),
			Headers: []idem.Header{{Name: "event-type", Value: []byte(kind)}, {Name: "Idempotency-Key", Value: fmt.Appendf(nil, "secret-key-%d", n)}},
			Value:   fmt.Appendf(nil, `{"account_id":%q,"sequence":%d,%s}`, account, n, more),
		})
	}
	for n := range 60 {
		add(n, n%7%2, time.Duration(n)*time.Minute)
	}
	add(5, 1, time.Hour)
	add(5, 0, 12*24*time.Hour)
	return all
}

func produce(t *testing.T, topics map[string]int32, messages ...*idem.Message) string {
	t.Helper()
	broker := idemtest.Kafka(t, topics)
	if err := broker.Produce(t.Context(), messages...); err != nil {
		t.Fatal(err)
	}
	return broker.Addr()
}

// What init writes of a topic generates, and says why the key is one. Nothing that it prints or
// writes holds a value or a key of a record.
func TestInitDescribesATopic(t *testing.T) {
	module(t, nil)
	brokers := produce(t, map[string]int32{"payments.v1": 2}, payments("payments.v1")...)
	code, stdout, stderr := run(t, "init", "--from-topic", "payments.v1", "--brokers", brokers)
	if code != done {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	spec := read(t, "idemgen.yaml")
	for _, want := range []string{
		"record_key: {account_id: uuid}", "Keys with records in more than one partition: 1 of 7. Do not promise that they are ordered.",
		"idempotency_key: {source: {header: Idempotency-Key}, window: 13d}",
		"is in all of 62 records, with 60 different texts. Repeats: 2 with\n    # the same content, 0 with other content, 1 in another partition; at most 12.0 days apart.",
		"event_type: {header: event-type}", "type: payment.received", "amount: decimal\n", "tags: list(string)\n",
		"refunded_at: {type: timestamp, path: refundedAt}", `Left out, because null in every record: "note".`,
	} {
		if !strings.Contains(spec, want) {
			t.Errorf("the spec lacks %q", want)
		}
	}
	for _, want := range []string{
		"topic payments.v1: 62 records of 2 partitions, from 2026-10-01T08:00:00Z to 2026-10-13T08:00:00Z\n",
		"    62  a JSON object\n", "event payment.refunded: 20 records\n", "  key: header Idempotency-Key, 40 different in 42; repeats: 2 with the same content, 0 with other content, 1 in another partition, at most 12.0 days apart\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if strings.Contains(stdout+stderr+spec, "secret-") || strings.Contains(stdout+stderr+spec, "0b5a4e2e") {
		t.Error("values of records were told")
	}
	must(t, "check")
	compiles(t)
	if t.Failed() || testing.Verbose() {
		t.Log(stdout, stderr, spec)
	}
}

// The report for machines has what the one for people has.
func TestInitFromATopicAsJSON(t *testing.T) {
	module(t, nil)
	t.Setenv("KAFKA_BROKERS", produce(t, map[string]int32{"payments.v1": 2}, payments("payments.v1")...))
	var got struct {
		Topic struct {
			Records int
			Events  []struct {
				Type string
				Key  struct{ Header string }
			}
		}
		Changes []struct{ Path string }
	}
	out := must(t, "init", "--from-topic", "payments.v1", "--sample", "10", "--json")
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Topic.Records != 10 || len(got.Topic.Events) != 2 || got.Topic.Events[0].Key.Header != "Idempotency-Key" || len(got.Changes) == 0 {
		t.Errorf("%+v\n%s", got, out)
	}
	code, stdout, stderr := run(t, "init", "--from-topic", "payments.v1")
	if code != trouble || !strings.HasPrefix(stdout, "topic payments.v1: 62 records") || !strings.Contains(stderr, "idemgen.yaml exists, and is not changed") {
		t.Errorf("beside a spec: exit code %d\n%s%s", code, stdout, stderr)
	}
	refused(t, "--sample 0: want 1 to 20000", "init", "--from-topic", "x", "--sample", "0")
	refused(t, "a first spec describes one of them", "init", "--from-topic", "x", "--from-db=postgres://127.0.0.1:1/x")
}

// A topic that gives no spec is named with what to do, and no file is written.
func TestInitRefusesATopicWithoutASpec(t *testing.T) {
	module(t, nil)
	t.Setenv("KAFKA_BROKERS", produce(t, map[string]int32{"empty.v1": 2, "avro.v1": 1}, &idem.Message{Topic: "avro.v1", Value: []byte("\x00\x00\x00\x00\x07\x10abcd")}))
	refused(t, "topic empty.v1 has no records", "init", "--from-topic", "empty.v1")
	refused(t, `has no topic "missing.v1"; topics here: avro.v1, empty.v1`, "init", "--from-topic", "missing.v1")
	before := commandtest.Tree(t, ".")
	code, stdout, stderr := run(t, "init", "--from-topic", "avro.v1")
	if code != trouble || !strings.Contains(stderr, "Avro or Protobuf behind a zero byte and a schema id; put the schema file") || !strings.Contains(stdout, "     1  Avro or Protobuf") || commandtest.Tree(t, ".") != before {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	t.Setenv("KAFKA_BROKERS", "")
	refused(t, "--brokers or $KAFKA_BROKERS missing", "init", "--from-topic", "avro.v1")
}

// Names of all sorts become names that generate accepts; so do events without a key, and those
// whose members are too many.
func TestInitDescribesOddTopics(t *testing.T) {
	wide := strings.Builder{}
	for n := range 200 {
		fmt.Fprintf(&wide, `,"m%d":1`, n)
	}
	for topic, values := range map[string][]string{
		"1":         {`{"a":1}`, `{"a":2}`},
		"null":      {`{}`, `{}`},
		"x.y_z-Q":   {`{"type":"a-b","a b":1.5,"a_b":[1,"x"],"aB":{"x":1},"A.B":"2026-01-01","each":true,"ctid":"x","1":3,"it's":3,"a_1":3,"a1":3,"id":"z","true":12}`, `{"type":"a.b","id":7}`},
		"wide":      {`{"id":"a"` + wide.String() + `}`},
		"Handler":   {`{"type":"Handler","event_id":"x"}`, `{"type":"com.shop.Config$Made","event_id":"y","format":"z"}`, `{"type":"service","n":3}`},
		"json.text": {`"{\"id\":\"a\"}"`, `"{\"id\":\"b\"}"`},
		"framed":    {"\x00\x00\x00\x00\x07" + `{"id":"a"}`, "\x00\x00\x00\x00\x07" + `{"id":"b"}`},
		"two.types": {`{"kind":"made","id":"1"}`, `{"kind":"gone","id":11}`, `{"kind":"made","id":"111"}`},
		"maybe":     {`{"n":1,"of":"1"}`, `{"n":2,"of":"11"}`, `{"n":3}`},
		"some.key":  {`{"kind":"made","id":"a"}`, `{"kind":"gone"}`},
		"json.key":  {`{"id":"a"}`, `{"id":"b"}`},
		"long.key":  {`{"id":"a"}`, `{"id":"b"}`},
	} {
		module(t, nil)
		var messages []*idem.Message
		key := map[string]string{"json.key": `"1"`, "long.key": "\x00\x00\x00\x00\x00\x00\x00\x01"}[topic]
		for n, v := range values {
			messages = append(messages, &idem.Message{Topic: topic, Value: []byte(v), Key: []byte(cmp.Or(key, strings.Repeat("1", n+1)))})
		}
		messages = append(messages, &idem.Message{Topic: topic, Key: []byte(cmp.Or(key, "k"))})
		brokers := produce(t, map[string]int32{topic: 1}, messages...)
		code, stdout, stderr := run(t, "init", "--from-topic", topic, "--brokers", brokers)
		if code != done {
			t.Errorf("%s: exit code %d\n%s%s", topic, code, stdout, stderr)
			continue
		}
		must(t, "check")
		spec := read(t, "idemgen.yaml")
		if !strings.Contains(spec, "\n    skip: [tombstone]\n") || !strings.Contains(spec, "\n      record_key: "+map[bool]string{true: "bigint", false: "text"}[key != ""]+"\n") {
			t.Errorf("%s: no skip for the tombstone, or no column with the record key:\n%s", topic, spec)
		}
		if encoding := map[string]string{"json.text": "json_string", "framed": "confluent_json"}[topic]; !strings.Contains(spec, "    payload: {encoding: "+encoding) && encoding != "" {
			t.Errorf("%s: another encoding:\n%s", topic, spec)
		}
		if form := map[string]string{"json.key": "{record_key: {type: int64, path: $}} # a JSON string\n", "long.key": "{record_key: int64}\n    record_key_format: {encoding: binary}\n"}[topic]; !strings.Contains(spec, form) {
			t.Errorf("%s: the record key is read in another way:\n%s", topic, spec)
		}
		if testing.Verbose() {
			t.Log(stdout, spec)
		}
	}
}

// The tests that are generated for a topic's spec are green.
func TestTheTestsOfATopicAreGreen(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	brokers := produce(t, map[string]int32{"payments.v1": 2}, payments("payments.v1")...)
	module(t, nil)
	own := strings.Replace(read(t, filepath.Join(commandtest.Repository, "go.mod")), "module github.com/idemgen/idemgen\n", "module example.com/orders\n", 1)
	write(t, "go.mod", own+"\nrequire github.com/idemgen/idemgen v0.0.0\n\nreplace github.com/idemgen/idemgen => "+commandtest.Repository+"\n")
	write(t, "go.sum", read(t, filepath.Join(commandtest.Repository, "go.sum")))
	must(t, "init", "--from-topic", "payments.v1", "--brokers", brokers, "--client", "franz")
	cmd := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-short", ".")
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS="+os.Getenv("GOFLAGS")+" -ldflags=-s -mod=mod")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "ok  \texample.com/orders\t") {
		t.Errorf("%v\n%s\n%s", err, out, read(t, "idemgen.yaml"))
	}
}
