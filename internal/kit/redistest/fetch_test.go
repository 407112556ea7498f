//go:build unix

package redistest

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestProgramIsUnpacked(t *testing.T) {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for name, text := range map[string]string{"other": "other", "redis": "#!/bin/sh\necho it runs\n"} {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	jar := filepath.Join(t.TempDir(), "archive.jar")
	if err := errors.Join(w.Close(), os.WriteFile(jar, archive.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "program")
	if err := unpack(jar, "redis", to); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(to).Output(); err != nil || string(out) != "it runs\n" {
		t.Errorf("it printed %q (%v)", out, err)
	}
	if err := unpack(jar, "none", to+"2"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// Who has no Redis reads what helps.
func TestMissingRedisNamesTheCommandsThatHelp(t *testing.T) {
	text := (&MissingError{errors.New("no network")}).Error()
	for _, help := range []string{"no network", "apt-get install -y redis-server", "brew install redis", "export " + EnvBin} {
		if !strings.Contains(text, help) {
			t.Errorf("%q is not in: %s", help, text)
		}
	}
}
