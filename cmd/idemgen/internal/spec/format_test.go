package spec

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

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
	if _, out, _ := run(t, "check", "--format", "json"); !strings.Contains(out, `"diagnostics": [`) {
		t.Error(out)
	}
}
