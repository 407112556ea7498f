//go:build unix

package postgres

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	embedded "github.com/fergusstrange/embedded-postgres"

	"github.com/idemgen/idemgen/internal/kit/port"
)

const unpackDir = "unpacked"

// fetchHere runs in the fetching child. The library knows where builds come from; it is let
// fetch and unpack one, and kept from running it: it would leave a daemon behind, and root and
// the pinned checksum are strange to it.
func fetchHere(in io.Reader) error {
	var o fetchOrder
	if err := json.NewDecoder(in).Decode(&o); err != nil {
		return err
	}
	check := &checkedTransport{next: http.DefaultTransport, sha256: o.SHA256}
	http.DefaultTransport = check // the library fetches with the default client
	// A data directory that is there, but has no configuration, makes the library skip
	// initdb and makes the server refuse at once.
	data := filepath.Join(o.Dir, "data")
	major, _, _ := strings.Cut(o.Version, ".")
	if err := os.Mkdir(data, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte(major+"\n"), 0o600); err != nil {
		return err
	}
	port, err := port.Free()
	if err != nil {
		return err
	}
	unpacked := filepath.Join(o.Dir, unpackDir)
	err = embedded.NewDatabase(embedded.DefaultConfig().
		Version(embedded.PostgresVersion(o.Version)).
		CachePath(filepath.Join(o.Dir, "archive")).
		RuntimePath(filepath.Join(o.Dir, "run")).
		BinariesPath(unpacked).
		DataPath(data).
		Port(uint32(port)).
		Logger(io.Discard)).Start()
	switch {
	case check.err != nil:
		return check.err
	case !check.passed:
		return fmt.Errorf("nothing was checked: %w", err)
	case err == nil || !strings.HasPrefix(err.Error(), "could not start postgres"):
		return fmt.Errorf("unpacking: %w", err) // that step is past unpacking; any other error is not
	}
	return nil
}

// checkedTransport lets an archive through only if it is the pinned one, before anything of it is
// unpacked.
type checkedTransport struct {
	next   http.RoundTripper
	sha256 string
	passed bool
	err    error
}

// RoundTrip implements http.RoundTripper.
func (t *checkedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(r)
	if err != nil {
		t.err = err
		return nil, err
	}
	if response.StatusCode != http.StatusOK || !strings.HasSuffix(r.URL.Path, ".jar") {
		return response, nil
	}
	body, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		t.err = err
		return nil, err
	}
	sum := sha256.Sum256(body)
	if got := hex.EncodeToString(sum[:]); got != t.sha256 {
		t.err = fmt.Errorf("the archive's sha256 is %s, but %s is pinned", got, t.sha256)
		return nil, t.err
	}
	t.passed = true
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}
