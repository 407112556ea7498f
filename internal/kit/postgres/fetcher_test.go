//go:build unix

package postgres

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestOnlyThePinnedArchiveComesThrough(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "archive")
	}))
	defer server.Close()
	sum := sha256.Sum256([]byte("archive"))
	for name, test := range map[string]struct {
		path, pin    string
		passed, fail bool
	}{
		"pinned":       {"/build.jar", hex.EncodeToString(sum[:]), true, false},
		"another":      {"/build.jar", strings.Repeat("0", 64), false, true},
		"its checksum": {"/build.jar.sha256", "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			check := &checkedTransport{next: http.DefaultTransport, sha256: test.pin}
			client := http.Client{Transport: check}
			response, err := client.Get(server.URL + test.path)
			if (err != nil) != test.fail || (check.err != nil) != test.fail || check.passed != test.passed {
				t.Fatalf("error %v, kept %v, passed %v", err, check.err, check.passed)
			}
			if err != nil {
				return
			}
			defer response.Body.Close()
			if body, err := io.ReadAll(response.Body); err != nil || string(body) != "archive" {
				t.Errorf("body %q, %v", body, err)
			}
		})
	}
}
