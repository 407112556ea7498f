package schema

import (
	"bytes"
	"strings"
	"testing"
)

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
		b.WriteString(Summary(n) + "; nothing was written\n")
	}
	return b.String()
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
		"insert":  "always clear each else if_exists insert leave set then",
		"upsert":  "always by clear each else if_newer keep leave set then upsert",
		"update":  "always clear each else if_missing if_newer many set then update where",
		"delete":  "always delete each else if_newer many then where",
		"append":  "always append clear each expect leave position set stream",
		"replace": "always clear each leave parent replace set",
		"add":     "add always at_least clear each else if_below if_missing leave minus plus set then where",
	} {
		if got := strings.Join(keysOfVerb(verb).built(), " "); got != want {
			t.Errorf("%s: %s, want %s", verb, got, want)
		}
	}
}
