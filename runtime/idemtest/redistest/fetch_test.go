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

// An archive that is not the pinned one is refused, whatever is in it.
func TestOtherArchivesAreRefused(t *testing.T) {
	if err := checked([]byte("another archive"), sum); err == nil || !strings.Contains(err.Error(), sum) {
		t.Errorf("error %v", err)
	}
}

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
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "program")
	if err := unpack(archive.Bytes(), "redis", to); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(to).Output(); err != nil || string(out) != "it runs\n" {
		t.Errorf("it printed %q (%v)", out, err)
	}
	if err := unpack(archive.Bytes(), "none", to+"2"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// Where archives come from is read without a request.
func TestRepositoryIsFound(t *testing.T) {
	repository, err := findRepository(t.TempDir())
	if err != nil || !strings.HasPrefix(repository, "https://") || !strings.HasSuffix(repository, "/") {
		t.Errorf("%q (%v)", repository, err)
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
