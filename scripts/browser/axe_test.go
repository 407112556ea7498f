package browser

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// axe-core finds what keeps people from using a page. It is evaluated through the browser's own
// door, not as a script of the page, so the policy of the pages stays as it is.
const (
	axeName = "axe-core-4.11.0.tgz"
	axeSum  = "39bed7d72308f6d620789c169d699bfd7e8da80f65b545821a6b2215c3e83107"
)

// axe returns the text of axe-core, which it fetches once.
func axe(t testing.TB) string {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "idemgen")
	file := filepath.Join(dir, axeName)
	packed, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		fetch := exec.CommandContext(t.Context(), "npm", "pack", "axe-core@4.11.0", "--silent", "--pack-destination", dir)
		if out, err := fetch.CombinedOutput(); err != nil {
			t.Fatalf("axe-core is needed, and comes by npm; run this, or install npm (apt-get install npm):\n%v\n%v: %s", fetch, err, out)
		}
		packed, err = os.ReadFile(file)
	}
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(packed); hex.EncodeToString(sum[:]) != axeSum {
		t.Fatalf("%s is not the axe-core that is expected: its SHA-256 is %x", file, sum)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for in := tar.NewReader(unpacked); ; {
		h, err := in.Next()
		if err != nil {
			t.Fatalf("axe.min.js: %v", err)
		}
		if h.Name == "package/axe.min.js" {
			text, err := io.ReadAll(in)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
	}
}
