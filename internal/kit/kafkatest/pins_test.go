//go:build unix

package kafkatest

import (
	"errors"
	"regexp"
	"strings"
	"testing"
)

// Each archive is pinned, and comes once.
func TestArchivesArePinned(t *testing.T) {
	all, err := archives(jarsText)
	if err != nil || len(all) < 100 {
		t.Fatalf("%d archives (%v)", len(all), err)
	}
	seen := map[string]bool{}
	for _, a := range append(all, apicurio) {
		if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(a.Sum) || seen[a.Path] {
			t.Errorf("%s: it comes twice, or its sum is %q", a.Path, a.Sum)
		}
		seen[a.Path] = true
	}
	if _, err := archives("a:b 00\n"); err == nil {
		t.Error("a line without a version is accepted")
	}
}

// An archive writes nothing outside of its folder.
func TestFilesStayInTheirFolder(t *testing.T) {
	dir := t.TempDir()
	for name, fits := range map[string]bool{"a/b": true, "../b": false, "/b": false} {
		if err := unpack(dir, name, strings.NewReader("text")); (err == nil) != fits {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Who has no Java reads what helps.
func TestMissingJavaNamesTheCommandsThatHelp(t *testing.T) {
	text := (&MissingError{17, errors.New("no network")}).Error()
	for _, help := range []string{"no network", "apt-get install -y openjdk-17-jre-headless", "brew install openjdk@17", "export JAVA_HOME="} {
		if !strings.Contains(text, help) {
			t.Errorf("%q is not in: %s", help, text)
		}
	}
}
