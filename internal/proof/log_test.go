package proof

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof/seedlog"
)

// eachLog goes over the logs of the specs that the repository holds, and of one more.
func eachLog(t *testing.T, do func(t *testing.T, topic *model.Topic, d Script)) {
	t.Helper()
	var files []string
	for _, pattern := range []string{"../../testdata/golden/*/*/idemgen.yaml", "../../examples/*/idemgen.yaml", "../../examples/*/*/idemgen.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	seen := 0
	for _, file := range files {
		spec := readSpec(t, file)
		if spec == nil {
			continue
		}
		if s, problems := resolve.Resolve(spec); s != nil && problems.Errors() == 0 {
			for _, topic := range s.Topics {
				if topic.Payload.Messages != nil { // whose schema nobody reads here
					continue
				}
				seen++
				t.Run(filepath.Base(filepath.Dir(file))+" "+topic.FileName, func(t *testing.T) { do(t, topic, Of(s).Topic(topic)) })
			}
		}
	}
	if seen < 30 {
		t.Fatalf("%d logs only", seen)
	}
}

// readSpec is a spec; nil if it is refused.
func readSpec(t *testing.T, file string) *syntax.Spec {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	spec, problems := syntax.Load(filepath.Base(file), content)
	if problems.Errors() > 0 {
		return nil
	}
	return spec
}

// Records that become dead letters are the exception: two thirds of every log take effect.
func TestMostRecordsOfALogTakeEffect(t *testing.T) {
	worst := 100
	eachLog(t, func(t *testing.T, _ *model.Topic, d Script) {
		dead := len(d.Dead)
		if 3*dead > len(d.Records) {
			t.Errorf("%d of %d records become dead letters", dead, len(d.Records))
		}
		if len(d.Records) > 0 {
			worst = min(worst, 100*(len(d.Records)-dead)/len(d.Records))
		}
	})
	t.Logf("in the worst log %d%% take effect", worst)
}

// Two events have one text as their key only where the spec lets them share their keys.
func TestKeysOfDifferentEventsDiffer(t *testing.T) {
	eachLog(t, func(t *testing.T, topic *model.Topic, d Script) {
		events := map[string]*model.Event{}
		for _, e := range topic.Events {
			events[e.GoName] = e
		}
		used := map[string]*model.Event{}
		for _, r := range d.Records {
			e := events[r.Event]
			if e.Key == nil || e.Key.Offset {
				continue
			}
			text := headerKey(e, r.Headers)
			if other := used[text]; other != nil && other.Key.Space != e.Key.Space {
				t.Errorf("%s and %s have the key %s", other.Name, e.Name, text)
			}
			if text != "" {
				used[text] = e
			}
		}
	})
}

// headerKey is the text of a key of headers; "" if a part of it is a field, or is read as one.
// Then it may name a row, and two events may share that.
func headerKey(e *model.Event, headers []seedlog.Header) string {
	var parts []string
	for _, p := range e.Key.Parts {
		if slices.ContainsFunc(e.Fields, func(f *model.Field) bool {
			return f.Source.Kind == model.FromHeader && f.Source.Header == p.Header
		}) {
			return ""
		}
		for _, h := range headers {
			if p.Field == nil && h.Name == p.Header {
				parts = append(parts, string(h.Value))
			}
		}
	}
	if len(parts) < len(e.Key.Parts) {
		return ""
	}
	return strings.Join(parts, " ")
}

const wallet = `version: 1
consumer: wallet
package: wallet
tables:
  accounts: {primary_key: [id], columns: {id: uuid, balance: "numeric(12,2)"}}
topics:
  money.v1:
    record_key: {id: uuid}
    assume: [ordered]
    idempotency_key: {source: {header: key}, window: 8d}
    event_type: {header: type}
    events:
      Opened: {type: opened, write: [{insert: accounts, set: {balance: {value: 100}}}]}
      Captured: {type: captured, fields: {amount: decimal}, write: [{add: accounts, plus: {balance: amount}}]}
      Refunded: {type: refunded, fields: {amount: decimal}, write: [{add: accounts, minus: {balance: amount}}]}
`

// Events of one row succeed one another: some account has two captures and a refund between them,
// another one two refunds and a capture, and all take effect.
func TestEventsOfOneRowSucceedOneAnother(t *testing.T) {
	spec, problems := syntax.Load("idemgen.yaml", []byte(wallet))
	s, more := resolve.Resolve(spec)
	if problems.Append(more); s == nil || problems.Errors() > 0 {
		t.Fatal(problems.Sorted())
	}
	d, lives := Of(s).Topic(s.Topics[0]), map[string]string{}
	for i, r := range d.Records {
		if d.Dead[i] == "" {
			lives[string(r.Key)] += r.Event + " "
		}
	}
	for _, want := range []string{"Opened Captured Refunded Captured ", "Opened Refunded Captured Refunded "} {
		if !slices.ContainsFunc(slices.Collect(maps.Values(lives)), func(life string) bool { return strings.HasPrefix(life, want) }) {
			t.Errorf("no account has %s: %v", want, lives)
		}
	}
}
