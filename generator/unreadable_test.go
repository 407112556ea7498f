package generator

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const plain = `version: 1
consumer: things
package: things
examples: examples.jsonl
tables:
  things: {primary_key: [id], columns: {id: uuid, note: nullable text}}
topics:
  things.v1:
    event_type: {header: type}
    idempotency_key: {source: {header: key}, window: 8d}
    events:
      Made: {type: made, fields: {id: uuid, note: optional string}, write: [{insert: things}]}
`

// put writes files below the working directory.
func put(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// service makes a module with a spec and what Generate writes for it its working directory.
func service(t *testing.T) Spec {
	t.Helper()
	t.Chdir(t.TempDir())
	put(t, map[string]string{
		"go.mod": "module example.com/things\n", "idemgen.yaml": plain, "examples.jsonl": "[]",
		"testdata/cases/made.yaml": "given: {}\nevents:\n  - {topic: things.v1, headers: {type: made, key: k}, value: {id: 0b5a4e2e-0000-4000-8000-000000000001}}\nthen:\n  things: [{id: 0b5a4e2e-0000-4000-8000-000000000001, note: null}]\n",
	})
	s := Spec{Path: "idemgen.yaml", Content: []byte(plain)}
	r, err := Generate([]Spec{s})
	if err != nil || r.Refused {
		t.Fatal(err, r.Problems)
	}
	if err := r.Apply(); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return s
}

// large puts a file that is too large to be read in the place of what is there, until back.
func large(t *testing.T, name string) (back func()) {
	t.Helper()
	aside := filepath.Join(t.TempDir(), "aside")
	if err := os.Rename(name, aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(name, nil, 0o644), os.Truncate(name, 64<<20+1)); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(aside, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

// If a file that belongs to a spec exists and cannot be read, the error names it. The file does
// not count as missing.
func TestAFileThatCannotBeReadIsAnError(t *testing.T) {
	generate := func(s Spec) error {
		r, err := Generate([]Spec{s})
		if err == nil {
			err = r.Close()
		}
		return err
	}
	keys := func(s Spec) error {
		_, _, err := Keys(s, "", "", nil)
		return err
	}
	of := func(s Spec) error {
		_, _, _, err := KeysOf(s, "Made")
		return err
	}
	local := func(s Spec) error {
		_, err := LocalOf(s)
		return err
	}
	draft := func(s Spec) error {
		_, err := Case(s, "other", "")
		return err
	}
	plan := func(s Spec) error {
		_, err := PlanOf(Before{Spec: s}, s)
		return err
	}
	s := service(t)
	for name, reads := range map[string][]func(Spec) error{
		"examples.jsonl":           {generate, keys, of, local, draft},
		"testdata/cases/made.yaml": {generate, keys, of, local, draft},
		"testdata/cases":           {generate, keys, of, local, draft},
		"idem.state.yaml":          {generate},
		"idem_gen.go":              {generate},
		"migrations":               {generate, plan},
		"migrations/0009_mine.sql": {generate, plan},
	} {
		back := large(t, name)
		for i, read := range reads {
			if err := read(s); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s, %d: %v", name, i, err)
			}
		}
		back()
	}
	if _, err := PlanOf(Before{Spec: s, State: []byte("version: 99\n"), StatePath: "old.state.yaml"}, s); err == nil || !strings.Contains(err.Error(), "old.state.yaml") {
		t.Errorf("a state of before that cannot be read: %v", err)
	}
}

// A state file that was changed by hand or belongs to another consumer is an error. A folder among
// the migrations is ignored.
func TestWhatIsBesideASpecIsChecked(t *testing.T) {
	s := service(t)
	state, err := os.ReadFile("idem.state.yaml")
	if err != nil {
		t.Fatal(err)
	}
	put(t, map[string]string{"migrations/0009_notes.sql/x": ""})
	for text, want := range map[string]string{
		string(state): "", string(state) + "x: y\n": "idem.state.yaml:", "": "idem.state.yaml is damaged",
		strings.Replace(string(state), "consumer: things", "consumer: others", 1): `idem.state.yaml belongs to consumer "others"`,
	} {
		put(t, map[string]string{"idem.state.yaml": text})
		r, err := Generate([]Spec{s})
		if want == "" && (err != nil || len(r.Changes) > 0) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
		if err == nil {
			_ = r.Close()
		}
	}
	if _, err := PlanOf(Before{Spec: s}, s); err != nil {
		t.Errorf("a folder among the migrations: %v", err)
	}
	if _, _, err := Keys(s, "none.v1", "", nil); err == nil || !strings.Contains(err.Error(), "none.v1") {
		t.Errorf("keys of a topic that is not there: %v", err)
	}
	if _, _, _, err := KeysOf(s, "None"); err == nil || !strings.Contains(err.Error(), "None") {
		t.Errorf("keys of an event that is not there: %v", err)
	}
}

// What init finds in its folder and cannot read is an error that names it.
func TestInitNamesWhatItCannotRead(t *testing.T) {
	for name, text := range map[string]string{"go.mod": "", "idemgen.yaml": "", "mine.go": "no Go", "gen.go": "package other\n"} {
		t.Chdir(t.TempDir())
		if text != "" {
			put(t, map[string]string{"go.mod": "module example.com/things\n", name: text})
		} else if put(t, map[string]string{name + "/x": ""}); name != "go.mod" {
			put(t, map[string]string{"go.mod": "module example.com/things\n"})
		}
		if _, err := Init(Start{Dir: "."}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("init beside %s: %v", name, err)
		}
	}
}

// What needs a spec in order refuses one that is not, and names it.
func TestASpecWithErrorsIsRefused(t *testing.T) {
	s := service(t)
	wrong := s
	wrong.Content = []byte(strings.Replace(plain, "id: uuid,", "id: uuuid,", 1))
	for name, read := range map[string]func(Spec) error{
		"Keys":    func(s Spec) error { _, _, err := Keys(s, "", "", nil); return err },
		"KeysOf":  func(s Spec) error { _, _, _, err := KeysOf(s, "Made"); return err },
		"LocalOf": func(s Spec) error { _, err := LocalOf(s); return err },
		"Case":    func(s Spec) error { _, err := Case(s, "other", ""); return err },
	} {
		if err := read(wrong); err == nil || err.Error() != "idemgen.yaml has errors: run idemgen check" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, r := range map[string]func() (*Refusal, int, error){
		"the spec of now": func() (*Refusal, int, error) {
			p, err := PlanOf(Before{Spec: s}, wrong)
			return &p.Refusal, len(p.Changes), err
		},
		"the spec of before": func() (*Refusal, int, error) {
			p, err := PlanOf(Before{Spec: wrong}, s)
			return &p.Refusal, len(p.Changes), err
		},
		"a spec": func() (*Refusal, int, error) {
			e := Explain(wrong)
			return &e.Refusal, len(e.Topics), nil
		},
	} {
		if is, n, err := r(); err != nil || n > 0 || !is.Refused() || len(is.Diagnostics) != 1 || is.Summary != "1 problem found" || !strings.Contains(is.Problems, "idemgen.yaml:6:") {
			t.Errorf("%s: %+v, %d, %v", name, is, n, err)
		}
	}
}
