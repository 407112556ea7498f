package syntax

import (
	"bytes"
	"strings"
	"testing"
)

const refusedDir = "../../../testdata/golden/refused"

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
		"insert": "clear each if_exists insert leave set",
		"upsert": "by clear each if_newer keep leave set upsert",
		"update": "clear each if_missing if_newer many set update where",
		"delete": "delete each if_newer many where",
		"add":    "add clear each if_missing leave minus plus set where",
	} {
		if got := strings.Join(keysOfVerb(verb).built(), " "); got != want {
			t.Errorf("%s: %s, want %s", verb, got, want)
		}
	}
}
