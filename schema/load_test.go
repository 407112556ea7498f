package schema

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the expected texts of testdata/golden/refused/s*")

const refusedDir = "../testdata/golden/refused"

// output is what a user sees for one refused file.
func output(t testing.TB, file string, data []byte) string {
	t.Helper()
	_, ds := Load(file, data)
	return printed(t, ds, file, data)
}

func printed(t testing.TB, ds Diagnostics, file string, data []byte) string {
	t.Helper()
	var b strings.Builder
	if err := ds.Print(&b, file, data); err != nil {
		t.Fatal(err)
	}
	if n := ds.Errors(); n > 0 {
		b.WriteString(Summary(n))
	}
	return b.String()
}

// Folders 01-50 hold the specs of the language's definition, s* those that schema
// decides alone, r* those of resolve.

// elsewhere are the codes that resolve reports; the texts of those files hold both.
var elsewhere = []string{"E207", "E208", "E212", "E213", "E302", "E303", "E304", "E407", "E409", "E411", "E414", "E5", "E601", "E602", "E610", "E701", "E702", "E703"}

// TestRefused: what schema decides in every refused spec is exactly the text beside it.
func TestRefused(t *testing.T) {
	dirs, err := os.ReadDir(refusedDir)
	if err != nil || len(dirs) < 22 {
		t.Fatalf("%d refused specs (%v)", len(dirs), err)
	}
	for _, d := range dirs {
		if strings.HasPrefix(d.Name(), "r") {
			continue // package resolve's own
		}
		t.Run(d.Name(), func(t *testing.T) {
			file := d.Name() + ".yaml"
			data, err := os.ReadFile(filepath.Join(refusedDir, d.Name(), file))
			if err != nil {
				t.Fatal(err)
			}
			wantFile := filepath.Join(refusedDir, d.Name(), "expected.txt")
			got := output(t, file, data)
			if *update && strings.HasPrefix(d.Name(), "s") {
				if err := os.WriteFile(wantFile, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(wantFile)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(d.Name(), "r") { // resolve's: schema adds nothing to them
				for line := range strings.Lines(got) {
					if codeOf(line) != "" && !strings.Contains(string(want), line) {
						t.Errorf("not expected: %s", line)
					}
				}
				return
			}
			if expected := ours(string(want)); got != expected {
				t.Errorf("got\n%s\nwant\n%s", got, expected)
			}
		})
	}
}

// TestLineEnds: CRLF changes nothing, neither positions nor texts.
func TestLineEnds(t *testing.T) {
	for _, data := range append(seeds(t), []byte(full)) {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
		crlf := bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
		if lf, got := output(t, "x.yaml", data), output(t, "x.yaml", crlf); got != lf {
			t.Errorf("with CRLF\n%s\nwith LF\n%s", got, lf)
		}
	}
}

// TestStepKeys: beside each verb stand exactly these keys.
func TestStepKeys(t *testing.T) {
	for verb, want := range map[string]string{
		"insert": "clear each if_exists insert leave set",
		"upsert": "by clear each if_newer leave set upsert",
		"update": "clear each if_missing if_newer many set update where",
		"delete": "delete each if_newer many where",
	} {
		if got := strings.Join(keysOfVerb(verb).built(), " "); got != want {
			t.Errorf("%s: %s, want %s", verb, got, want)
		}
	}
}

// ours leaves out the problems that resolve reports.
func ours(text string) string {
	var keep []string
	drop := false
	n := 0
	for line := range strings.SplitAfterSeq(text, "\n") {
		if code := codeOf(line); code != "" {
			drop = slices.ContainsFunc(elsewhere, func(c string) bool { return strings.HasPrefix(code, c) })
			if !drop {
				n++
			}
		}
		if !drop && !strings.Contains(line, "nothing was written") {
			keep = append(keep, line)
		}
	}
	if n > 0 {
		keep = append(keep, Summary(n))
	}
	return strings.Join(keep, "")
}

func codeOf(line string) string {
	parts := strings.SplitN(line, ": ", 3)
	if len(parts) == 3 && strings.Contains(parts[0], ".yaml:") && len(parts[1]) == 4 {
		return parts[1]
	}
	return ""
}
