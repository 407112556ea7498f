package resolve

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// everyDefault has a place, @ and the section in < >, for the keys that have a default.
const everyDefault = `version: 1
consumer: defaults
package: defaults
limits: {@<limits>}
migrations: {@<migrations>}
types:
  Site: {enum: [north]@<a type>}
tables:
  parents: {primary_key: [id], columns: {id: uuid}}
  rows:
    primary_key: [id]
    columns: {id: uuid, parent: uuid, site: text, count: {type: integer@<a column>}}
    foreign_keys: [{columns: [parent], references: parents@<a foreign key>}]
    @<a table>
topics:
  t.v1:
    record_key: {id: uuid}
    assume: [ordered]
    event_type: {header: type}
    @<a topic>
    payload: {@<payload>}
    idempotency_key: {source: {header: key}, window: 8d@<idempotency_key>}
    on_failure: {@<on_failure>}
    events:
      Called:
        type: called
        fields: {parent: {type: uuid, header: parent@<a field>}, count: int32, site: Site}
        write: [{upsert: parents, set: {id: parent}}, {insert: rows@<a step with insert>}]
        effect: {if_interrupted: retry@<effect>}
      Added:
        type: added
        fields: {count: int32}
        write: [{add: rows, plus: {count: count}@<a step with add>}, {delete: rows@<a step with delete>}]
        @<an event>
`

var placeOfDefault = regexp.MustCompile(`@<([^>]*)>`)

// withDefault is the spec with a text in one of its places.
func withDefault(t *testing.T, place, text string) *model.Service {
	t.Helper()
	spec := placeOfDefault.ReplaceAllStringFunc(everyDefault, func(at string) string {
		if name := at[2 : len(at)-1]; name == place {
			return text
		}
		return ""
	})
	spec = strings.ReplaceAll(spec, "{, ", "{")
	parsed, ds := syntax.Load("idemgen.yaml", []byte(spec))
	s, more := Resolve(parsed)
	ds.Append(more)
	if ds.Errors() > 0 {
		t.Fatalf("%v\n%s", ds.Sorted(), spec)
	}
	return s
}

// What the reference says holds without a key is what holds: a spec that writes it is resolved to
// the same.
func TestDefaultsOfTheReferenceHold(t *testing.T) {
	plain := regexp.MustCompile("^`?([a-zA-Z0-9_]+)`?$")
	without, tried := withDefault(t, "", ""), 0
	syntax.Language().Each(func(s syntax.Section) {
		for _, k := range s.Keys {
			m := plain.FindStringSubmatch(k.Default)
			if m == nil || k.Required || k.Default == "none" || k.Default == "JSON" {
				continue
			}
			places := []string{s.Of}
			for verb := range strings.FieldsSeq(k.With) {
				places = append(places, s.Of+" with "+verb)
			}
			i := slices.IndexFunc(places, func(of string) bool { return strings.Contains(everyDefault, "@<"+of+">") })
			if i < 0 {
				t.Errorf("no place for %s of %s", k.Name, s.Of)
				continue
			}
			text := k.Name + ": " + m[1]
			if !strings.Contains(everyDefault, " @<"+places[i]+">") {
				text = ", " + text
			}
			tried++
			if with := withDefault(t, places[i], text); !reflect.DeepEqual(with, without) {
				t.Errorf("%s of %s is not %s without the key", k.Name, s.Of, m[1])
			}
		}
	})
	if tried < 20 {
		t.Errorf("%d defaults tried", tried)
	}
}
