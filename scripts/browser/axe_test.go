package browser

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// axe-core finds what keeps people from using a page. It is evaluated through the browser's own
// door, not as a script of the page, so the policy of the pages stays as it is.
const (
	axeURL = "https://registry.npmjs.org/axe-core/-/axe-core-4.11.0.tgz"
	axeSum = "39bed7d72308f6d620789c169d699bfd7e8da80f65b545821a6b2215c3e83107"
)

// axe returns the text of axe-core, which it fetches once.
func axe(t testing.TB) string {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "idemgen", "axe-core-4.11.0.tgz")
	packed, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		if packed, err = fetch(t.Context(), axeURL); err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, packed, 0o644))
		}
	}
	if err != nil {
		t.Fatalf("axe-core is needed: fetch %s as %s: %v", axeURL, file, err)
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

func fetch(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s", answer.Status)
	}
	return io.ReadAll(answer.Body)
}
