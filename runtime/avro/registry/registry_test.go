package registry_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"

	"github.com/idemgen/idemgen/internal/avromsg"
	"github.com/idemgen/idemgen/runtime/avro"
	"github.com/idemgen/idemgen/runtime/avro/registry"
	"github.com/idemgen/idemgen/runtime/wire"
)

const own = `{"type":"record","name":"Order","fields":[{"name":"id","type":"string"},{"name":"cents","type":"long","default":-1}]}`

// front is a registry that counts what it is asked, and may be away.
type front struct {
	*sr.Client
	asked atomic.Int64
	away  atomic.Int64 // the status that it answers with; 0 while it works
}

func start(t *testing.T) *front {
	t.Helper()
	fake, f := srfake.New(), &front{}
	t.Cleanup(fake.Close)
	at, err := url.Parse(fake.URL())
	if err != nil {
		t.Fatal(err)
	}
	behind := httputil.NewSingleHostReverseProxy(at)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.asked.Add(1)
		if status := f.away.Load(); status != 0 {
			http.Error(w, "<html>no registry here"+strings.Repeat(" ", 1000), int(status))
			return
		}
		behind.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	if f.Client, err = sr.NewClient(sr.URLs(server.URL)); err != nil {
		t.Fatal(err)
	}
	return f
}

// add registers a schema, and returns a record that was written with it.
func (f *front) add(t *testing.T, subject, schema string, value string, refs ...sr.SchemaReference) wire.Message {
	t.Helper()
	s, err := f.CreateSchema(t.Context(), subject, sr.Schema{Schema: schema, References: refs})
	if err != nil {
		t.Fatal(err)
	}
	return wire.Message{Value: append([]byte{0, 0, 0, 0, byte(s.ID)}, value...)}
}

// opened is what a record is opened as, or why it is not.
func opened(m *avro.Message, r wire.Message) string {
	e := avro.Encoding{Message: m}
	is, err := e.Open(&r)
	if err != nil {
		return err.Error()
	}
	return string(is.Value)
}

// Records are opened with the schemas that they were written with, which are asked for once each.
// Why one is not, is told with the number of its schema.
func TestWritersSchemas(t *testing.T) {
	f := start(t)
	records := []wire.Message{
		f.add(t, "old", `{"type":"record","name":"Order","fields":[{"name":"id","type":"string"}]}`, "\x02a"),
		f.add(t, "new", `{"type":"record","name":"Order","fields":[{"name":"more","type":"int"},{"name":"id","type":"string"},{"name":"cents","type":"int"}]}`, "\x02\x02b\x0e"),
		f.add(t, "other", `{"type":"record","name":"Bill","fields":[{"name":"id","type":"int"}]}`, "\x02"),
		{Value: []byte("\x00\x00\x00\x00\x63\x02a")},
		{Value: []byte(`{"id":"a"}`)},
		{},
	}
	f.add(t, "line", `{"type":"record","name":"Line","namespace":"shop","fields":[{"name":"n","type":"int"}]}`, "")
	f.add(t, "pair", `{"type":"record","name":"Pair","namespace":"shop","fields":[{"name":"a","type":"Line"},{"name":"b","type":"Line"}]}`, "",
		sr.SchemaReference{Name: "shop.Line", Subject: "line", Version: 1})
	records = append(records, f.add(t, "refers", `{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"p","type":"Pair"},{"name":"l","type":"Line"},{"name":"id","type":"string"}]}`, "\x02\x02\x02\x02c",
		sr.SchemaReference{Name: "shop.Pair", Subject: "pair", Version: 1}, sr.SchemaReference{Name: "shop.Line", Subject: "line", Version: 1}))
	m := avro.NewFramed(own, "Order").From(registry.New(f.Client))
	for range 2 {
		if n, err := m.Prepare(t.Context(), records); n != len(records) || err != nil {
			t.Fatal(n, err)
		}
	}
	for i, want := range []string{
		`{"id":"a","cents":-1}`, `{"id":"b","cents":7}`, "cannot be read: it is of type Bill, not Order (schema 3)", "cannot be read: the registry has no schema 99",
		"cannot be read: it begins like JSON, not with a zero byte and a schema id", "", `{"id":"c","cents":-1}`,
	} {
		if got := opened(m, records[i]); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("record %d is %s, want %s", i, got, want)
		}
	}
	asked := f.asked.Load()
	if _, err := m.Prepare(t.Context(), records); err != nil || f.asked.Load() != asked { // also for schema 99, which is not there
		t.Errorf("%d more are asked for, %v", f.asked.Load()-asked, err)
	}
}

// Confluent's serializers may name the schema in a header, by its number or by its GUID; then the
// value has no prefix. A registry without GUIDs is a reason for these records alone.
func TestSchemasInAHeader(t *testing.T) {
	f := start(t)
	created, err := f.CreateSchema(t.Context(), "new", sr.Schema{Schema: `{"type":"record","name":"Order","fields":[{"name":"more","type":"int"},{"name":"id","type":"string"}]}`})
	if err != nil {
		t.Fatal(err)
	}
	named := func(header string) wire.Message {
		return wire.Message{Value: []byte("\x02\x02b"), Headers: []wire.Header{{Name: "__value_schema_id", Value: []byte(header)}}}
	}
	guid, err := hex.DecodeString(strings.ReplaceAll(created.GUID, "-", ""))
	if err != nil || len(guid) != 16 {
		t.Fatal(created.GUID, err)
	}
	records := []wire.Message{named("\x00\x00\x00\x00" + string(rune(created.ID))), named("\x01" + string(guid)), named("\x01ABCDEFGHabcdefgh"), named("\x01"), named("\x01" + string(guid) + "x"), {Value: []byte("\x02\x02b")}}
	const unknown = "the registry has no schema 41424344-4546-4748-6162-636465666768"
	const broken, junk, none = "header __value_schema_id is neither a zero byte", "header __value_schema_id is longer than", "it does not begin with a zero byte and a schema id"
	for name, c := range map[string]struct {
		from avro.Registry
		want []string
	}{
		"with GUIDs":    {registry.New(f.Client), []string{`{"id":"b","cents":-1}`, `{"id":"b","cents":-1}`, unknown, broken, junk, none}},
		"without GUIDs": {numbers{registry.New(f.Client)}, []string{`{"id":"b","cents":-1}`, created.GUID + ", which cannot be read: this registry does not provide schemas by GUID", "does not provide schemas by GUID", broken, junk, none}},
	} {
		m := avro.NewFramed(own, "Order").From(c.from)
		if n, err := m.Prepare(t.Context(), records); n != len(records) || err != nil {
			t.Fatal(name, n, err)
		}
		for i, want := range c.want {
			if got := opened(m, records[i]); !strings.Contains(got, want) {
				t.Errorf("%s: record %d is %s, want %s", name, i, got, want)
			}
		}
	}
}

// A record key is decoded as a value is, by the schema before it or in a header of its own, and
// what is wrong with it is said of the key. The schemas of both are queried.
func TestKeysAreUnpackedAsValuesAre(t *testing.T) {
	f := start(t)
	value := f.add(t, "value", own, "\x02a\x04")
	key := f.add(t, "key", `"long"`, "\x0e").Value
	const long = `"long"`
	values, keys := avro.NewFramed(own, "Order").From(registry.New(f.Client)), avro.NewFramed(long, "").OfKeys().From(registry.New(f.Client))
	named := wire.Header{Name: "__key_schema_id", Value: key[:5]}
	records := []wire.Message{
		{Key: key, Value: value.Value}, {Key: key[5:], Headers: []wire.Header{named}}, {Value: value.Value}, {Key: []byte("7"), Value: value.Value},
		{Key: []byte("\x00\x00\x00\x00\x63\x02")},
	}
	if n, err := avro.Prepare(values, keys)(t.Context(), records); n != len(records) || err != nil {
		t.Fatal(n, err)
	}
	e := avro.Encoding{Message: keys}
	for i, want := range []string{
		"7", "7", "", "decode: record key cannot be read: it does not begin with a zero byte and a schema id",
		"decode: record key cannot be read: the registry has no schema 99",
	} {
		m, err := e.Open(&records[i])
		if err != nil && err.Error() != want || err == nil && (string(m.Key) != want || string(m.Value) != string(records[i].Value)) {
			t.Errorf("record %d: %+v, %v, want %s", i, m, err, want)
		}
	}
	gone := avro.NewFramed(long, "").OfKeys().From(nil)
	if n, err := avro.Prepare(values, gone)(t.Context(), records[2:4]); n != 2 || err != nil {
		t.Errorf("records without a schema for their key wait: %d, %v", n, err)
	}
	if n, err := avro.Prepare(values, gone)(t.Context(), []wire.Message{records[2], records[0]}); n != 1 || err != nil {
		t.Errorf("a record whose key has no schema yet does not wait: %d, %v", n, err)
	}
}

// numbers is a registry that has schemas by their numbers only.
type numbers struct{ avro.Registry }

// An answer that does not come from a registry is not kept, whatever its status: records wait, and
// are opened when the registry is back.
func TestAnswerOfSomethingElse(t *testing.T) {
	for _, body := range []string{"{}", "null", `{"status":"maintenance"}`, `{"schema":null}`, `<html>log in</html>`, `[]`, `""`, ``} {
		answer := atomic.Pointer[string]{}
		answer.Store(&body)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(*answer.Load()))
		}))
		client, err := sr.NewClient(sr.URLs(server.URL))
		if err != nil {
			t.Fatal(err)
		}
		m := avro.NewFramed(own, "").From(registry.New(client))
		r := wire.Message{Value: []byte("\x00\x00\x00\x00\x01\x02a\x02")}
		if n, err := m.Prepare(t.Context(), []wire.Message{r}); n != 0 || err == nil {
			t.Errorf("%q: %d records are prepared, %v", body, n, err)
		}
		back, _ := json.Marshal(map[string]string{"schema": own})
		text := string(back)
		answer.Store(&text)
		if n, err := m.Prepare(t.Context(), []wire.Message{r}); n != 1 || err != nil || opened(m, r) != `{"id":"a","cents":1}` {
			t.Errorf("after %q: %d, %v, %s", body, n, err, opened(m, r))
		}
		server.Close()
	}
}

// While the registry does not answer, or something else does, records wait; those before them are
// opened. What it says of itself stays short, and has no HTML of a proxy's page in full.
func TestRegistryThatIsAway(t *testing.T) {
	f := start(t)
	one := f.add(t, "one", `{"type":"record","name":"Order","fields":[{"name":"id","type":"string"}]}`, "\x02a")
	two := f.add(t, "two", own, "\x02b\x02")
	m := avro.NewFramed(own, "").From(registry.New(f.Client))
	if n, err := m.Prepare(t.Context(), []wire.Message{one}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	for _, status := range []int64{404, 401, 500} {
		f.away.Store(status)
		if n, err := m.Prepare(t.Context(), []wire.Message{one, two}); n != 1 || err != nil {
			t.Errorf("status %d, behind a record: %d, %v", status, n, err)
		}
		n, err := m.Prepare(t.Context(), []wire.Message{two, one})
		if n != 0 || err == nil || !strings.HasPrefix(err.Error(), "schema 2 of offset 0 cannot be read: the schema registry answers with status ") || len(err.Error()) > 300 {
			t.Errorf("status %d: %d, %v", status, n, err)
		}
	}
	f.away.Store(0)
	if n, err := m.Prepare(t.Context(), []wire.Message{two, one}); n != 2 || err != nil || opened(m, two) != `{"id":"b","cents":1}` {
		t.Errorf("when it is back: %d, %v, %s", n, err, opened(m, two))
	}
	nobody, err := sr.NewClient(sr.URLs("http://name:secret@127.0.0.1:1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := registry.New(nobody).Schema(t.Context(), 1); err == nil || errors.Is(err, avro.ErrNoSchema) || !strings.HasPrefix(err.Error(), "the schema registry does not respond: ") || strings.Contains(err.Error(), "secret") {
		t.Errorf("nobody answers: %v", err)
	}
}

// In tests a type has its own schema, under its own number.
func TestOwnSchema(t *testing.T) {
	base := avro.NewFramed(own, "")
	m := base.From(avro.Own(avro.NewFramed(`{"type":"record","name":"Other","fields":[]}`, ""), base))
	is, err := avromsg.New(own, "")
	if err != nil {
		t.Fatal(err)
	}
	sample := avromsg.Sample{Of: is, Framed: true}
	value, err := sample.Pack([]byte(`{"id":"a","cents":5}`))
	if is, err2 := sample.Open(nil, value); err != nil || err2 != nil || string(is) != `{"id":"a","cents":5}` {
		t.Fatalf("%q, %v, %s, %v", value, err, is, err2)
	}
	for _, bad := range [][]byte{value[1:], append([]byte{0, 9, 9, 9, 9}, value[5:]...)} {
		if _, err := sample.Open(nil, bad); err == nil {
			t.Errorf("%q is opened", bad)
		}
	}
	r := wire.Message{Value: value}
	if n, err := m.Prepare(t.Context(), []wire.Message{r, {Value: []byte("\x00\x00\x00\x00\x07")}}); n != 2 || err != nil || opened(m, r) != `{"id":"a","cents":5}` {
		t.Errorf("%d, %v, %s", n, err, opened(m, r))
	}
	if _, err := base.From(nil).Prepare(t.Context(), []wire.Message{r}); err == nil || !strings.Contains(err.Error(), "registry.New") {
		t.Errorf("without a registry: %v", err)
	}
}

// A schema that refers to too many others makes dead letters of its records; they do not wait.
func TestReferencesAreBounded(t *testing.T) {
	served := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served++
		is := map[string]any{"schema": own, "id": 1, "version": served, "subject": "s"}
		is["references"] = []map[string]any{{"name": "n", "subject": "s", "version": served + 1}} // always another one
		_ = json.NewEncoder(w).Encode(is)
	}))
	t.Cleanup(server.Close)
	client, err := sr.NewClient(sr.URLs(server.URL))
	if err != nil {
		t.Fatal(err)
	}
	m := avro.NewFramed(own, "").From(registry.New(client))
	r := wire.Message{Value: []byte("\x00\x00\x00\x00\x01\x02a\x02")}
	if n, err := m.Prepare(t.Context(), []wire.Message{r}); n != 1 || err != nil || served > 101 {
		t.Errorf("%d, %v, after %d queries", n, err, served)
	}
	if got := opened(m, r); !strings.Contains(got, "which cannot be read: it references more than 100 other schemas") {
		t.Error(got)
	}
}
