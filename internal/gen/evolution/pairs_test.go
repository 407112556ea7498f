package evolution

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/state"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// load returns a version of a spec without errors.
func load(t *testing.T, spec string) Version {
	t.Helper()
	read, ds := syntax.Load("idemgen.yaml", []byte(spec))
	service, more := resolve.Resolve(read)
	ds.Append(more)
	if ds.Errors() > 0 {
		var b strings.Builder
		_ = ds.Print(&b, "idemgen.yaml", []byte(spec))
		t.Fatal(b.String())
	}
	root, _ := syntax.Parse([]byte(spec))
	return Version{Spec: root, Service: service, State: state.Next(nil, service)}
}

// samples are the values that a type takes, one letter each:
//
//	a "a"   b "b"   t a timestamp   u base64   i 1   l 5000000000   e a time in milliseconds
//	d 1.5   o true   r {"id": "1"}   n {"id": "1", "note": "x"}   z {"id": "1", "z": 3}
//	q {"id": "1", "note": "x", "z": 3}   m {"x": "a"}   s ["a"]   j [1]   R [r]   N [n]
//	Y {"x": n}   0 null   - absent
var samples = map[string]string{
	"string": "abtu", "bytes": "u", "timestamp": "t", "int32": "i", "int64": "ile", "decimal": "iled", "epoch_ms": "e", "bool": "o",
	"json": "abtuiledornzqmsjRNY", "list(string)": "s", "list(int64)": "j", "map(string)": "rnm",
	"Way": "ab", "NoB": "a", "Ring": "rnzq", "Bell": "nq", "list(Ring)": "RN", "list(Bell)": "N", "map(Bell)": "Y",
}

// declaration is one way to declare a field.
type declaration struct {
	text     string // "" if the field is not there
	typ      string
	takes    string
	place    string // "" is the member of its name
	required bool
}

func declarations(places bool) []declaration {
	all := []declaration{{}}
	for typ, takes := range samples {
		all = append(all, declaration{typ, typ, takes, "", true})
		if slices.Contains([]string{"string", "int64", "Way", "Ring", "map(string)"}, typ) {
			all = append(all, declaration{"optional " + typ, typ, takes + "0-", "", false})
		}
	}
	if places {
		all = append(all,
			declaration{"{type: string, default: x}", "string", "abtu-", "", false},
			declaration{"{type: string, path: o}", "string", "abtu", "o", true},
			declaration{"{type: optional string, path: o}", "string", "abtu0-", "o", false},
			declaration{"{type: string, path: o, default: x}", "string", "abtu-", "o", false})
	}
	return all
}

// after returns what becomes of records of before: some are refused, or lose a value.
func after(name string, was, is declaration) (dead, loses bool) {
	switch {
	case was.text == "" || is.text == "":
		return is.required, false
	case was.place != is.place || is.place == "" && name != "f":
		return is.required, !is.required
	}
	return strings.Trim(was.takes, is.takes) != "", false
}

// A plan says that records become dead letters if and only if a value that a field took is refused
// now, and that they lose values if it is not read any more. It does not call the same field
// compatible.
func TestAPlanSaysWhatBecomesOfAField(t *testing.T) {
	const spec = `version: 1
consumer: c
package: p
types:
  Way: {enum: [a, b]}
  NoB: {enum: [a]}
  Ring: {fields: {id: string, note: optional string}}
  Bell: {fields: {id: string, note: string}}
  In: {fields: {%[1]s}}
  Out: {fields: {%[2]s}}
topics:
  t.v1:
    event_type: {header: type}
    idempotency_key: {source: {header: k}, window: 8d}
    events:
      A: {type: a, fields: {%[3]s}, handle: true}
      B: {type: b, fields: {in: In}, effect: {if_interrupted: retry, result: Out}}
      Uses: {type: c, fields: {way: Way, no: NoB, ring: Ring, bell: Bell}, handle: true}
`
	for at, name := range []string{"a type", "a result", "an event"} {
		versions := map[string]Version{}
		version := func(name string, d declaration) Version {
			fields := []any{"other: bool", "other: bool", "other: bool"}
			if d.text != "" {
				fields[at] = "other: bool, " + name + ": " + d.text
			}
			text := fmt.Sprintf(spec, fields...)
			if _, is := versions[text]; !is {
				versions[text] = load(t, text)
			}
			return versions[text]
		}
		result, all := name == "a result", declarations(name == "an event")
		for i := range len(all) * len(all) * 2 {
			was, is, now := all[i/2/len(all)], all[i/2%len(all)], []string{"f", "g"}[i%2]
			if result && strings.ContainsAny(was.typ+is.typ, "(RBj_") || name == "a type" && now != "f" || was == is && now == "f" {
				continue // a result has plain types only
			}
			changes := Compare(version("f", was), version(now, is))
			dead, loses := after(now, was, is)
			want := map[Verdict]bool{DeadLetters: dead, LosesValues: loses}
			if result {
				back, _ := after(now, is, was)
				want = map[Verdict]bool{Results: dead || loses || back}
			}
			got := map[Verdict]bool{}
			for _, c := range changes {
				got[c.Verdict] = true
			}
			wrong := len(changes) == 0 && was.text+is.text != "" || contradict(changes)
			for _, v := range []Verdict{DeadLetters, LosesValues, Results, NotKnown} {
				wrong = wrong || got[v] != want[v]
			}
			if wrong {
				t.Errorf("%s: f was %q, and %s is %q: %q", name, was.text, now, is.text, changes)
			}
		}
	}
}

var fieldOf = regexp.MustCompile(`field "(\w+)"`)

// contradict reports whether one change is called compatible that another one says is not.
func contradict(changes []Change) bool {
	for _, c := range changes {
		for _, f := range fieldOf.FindAllStringSubmatch(c.What, -1) {
			for _, o := range changes {
				if c.Verdict != Compatible && o.Verdict == Compatible && strings.Contains(o.What, "fields."+f[1]+" ") {
					return true
				}
			}
		}
	}
	return false
}
