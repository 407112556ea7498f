package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/generator"
)

// findingsOfAllKinds are a problem with a place and a hint, one of a whole file, and two whose
// texts have what the formats reserve.
var findingsOfAllKinds = findings([]generator.Diagnostic{
	{File: "a/idemgen.yaml", Line: 3, Column: 5, Code: "E104", Message: "no such table", Hint: "write orders"},
	{File: "idemgen.yaml", Code: "E101", Message: "it is empty"},
	{File: "50%,a:b\r\n.yaml", Line: 1, Column: 1, Code: "E,:%1", Message: "100%: a,\r\n<b>"},
}, []change{{Path: "idem_gen.go"}})

// Lines for GitHub escape what would end a property or the line.
func TestFindingsForGitHub(t *testing.T) {
	const want = `::error file=a/idemgen.yaml,line=3,col=5,title=idemgen E104::no such table: write orders
::error file=idemgen.yaml,title=idemgen E101::it is empty
::error file=50%25%2Ca%3Ab%0D%0A.yaml,line=1,col=1,title=idemgen E%2C%3A%251::100%25: a,%0D%0A<b>
::error file=idem_gen.go,title=idemgen generated::the file differs from what the spec describes: run idemgen generate
`
	var out strings.Builder
	if err := printGitHub(&out, findingsOfAllKinds); err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
	}
	if err := printGitHub(full{}, findingsOfAllKinds); !errors.Is(err, errFull) {
		t.Errorf("a full disk: %v", err)
	}
}

// full takes no more.
type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

// A log of SARIF has the places where there are some.
func TestFindingsForCodeScanners(t *testing.T) {
	version, err := json.Marshal(command.Version().Version)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{"tool":{"driver":{"name":"idemgen","version":` + string(version) + `}},"results":[` +
		`{"ruleId":"E104","level":"error","message":{"text":"no such table: write orders"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a/idemgen.yaml"},"region":{"startLine":3,"startColumn":5}}}]},` +
		`{"ruleId":"E101","level":"error","message":{"text":"it is empty"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"idemgen.yaml"}}}]},` +
		`{"ruleId":"E,:%1","level":"error","message":{"text":"100%: a,\r\n<b>"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"50%,a:b\r\n.yaml"},"region":{"startLine":1,"startColumn":1}}}]},` +
		`{"ruleId":"generated","level":"error","message":{"text":"the file differs from what the spec describes: run idemgen generate"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"idem_gen.go"}}}]}]}]}`
	want = strings.Replace(want, `,"version":""`, "", 1)
	var out strings.Builder
	if err := printSARIF(&out, findingsOfAllKinds); err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Compact(&indented, []byte(out.String())); err != nil || indented.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, indented.String(), want)
	}
	if !strings.HasPrefix(out.String(), "{\n  \"$schema\"") || !strings.Contains(out.String(), "<b>") {
		t.Errorf("it is not for people as well:\n%s", out.String())
	}
}

// What check finds is printed for GitHub and for code scanners as it is for people: problems with
// their places, files that are not up to date, and nothing where all is in order.
func TestCheckPrintsForOtherTools(t *testing.T) {
	module(t, nil)
	must(t, "init")
	results := func(want int) (found []sarifResult) {
		t.Helper()
		code, out, _ := run(t, "check", "--format", "sarif")
		var log sarifLog
		if err := json.Unmarshal([]byte(out), &log); err != nil || code != want || len(log.Runs) != 1 || log.Version != "2.1.0" {
			t.Fatalf("exit code %d, %v:\n%s", code, err, out)
		}
		return log.Runs[0].Results
	}
	github := func(want int) string {
		t.Helper()
		code, out, _ := run(t, "check", "--format", "github")
		if code != want {
			t.Errorf("exit code %d, want %d", code, want)
		}
		return out
	}
	if found, out := results(done), github(done); len(found) != 0 || out != "" {
		t.Errorf("%v\n%s", found, out)
	}
	if err := os.Remove("idem_gen.go"); err != nil {
		t.Fatal(err)
	}
	if found := results(different); len(found) != 1 || found[0].RuleID != outdated || found[0].Locations[0].Physical.Artifact.URI != "idem_gen.go" || found[0].Locations[0].Physical.Region != nil {
		t.Errorf("%+v", found)
	}
	if out, want := github(different), "::error file=idem_gen.go,title=idemgen generated::the file differs from what the spec describes: run idemgen generate\n"; out != want {
		t.Errorf("got %s want %s", out, want)
	}
	edit(t, "idemgen.yaml", "order_id: uuid\n      total", "order_id: uuid, 100%\n      total")
	found := results(trouble)
	if len(found) == 0 || found[0].Locations[0].Physical.Region.Line == 0 || found[0].Level != "error" {
		t.Errorf("%+v", found)
	}
	if out := github(trouble); !strings.HasPrefix(out, "::error file=idemgen.yaml,line=") || !strings.Contains(out, "100%25") {
		t.Error(out)
	}
	refused(t, "--format html: want text, json, github or sarif", "check", "--format", "html")
	for command, told := range map[string]string{"check": "see diagnostics", "generate": "see diagnostics; nothing was written"} {
		if _, out, _ := run(t, command, "--json"); !strings.Contains(out, `"diagnostics": [`) || !strings.Contains(out, told+`"`) {
			t.Error(out)
		}
	}
	if _, out, _ := run(t, "check", "--format", "json"); !strings.Contains(out, `"diagnostics": [`) {
		t.Error(out)
	}
}
