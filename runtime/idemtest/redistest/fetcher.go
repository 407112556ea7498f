//go:build unix

package redistest

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	embedded "github.com/fergusstrange/embedded-postgres"
)

// roleEnv is set in a copy of this program that is not to be the program but the fetcher.
const (
	roleEnv     = "IDEMTEST_ROLE"
	roleFetcher = "redis-fetcher"
)

func init() {
	if os.Getenv(roleEnv) != roleFetcher {
		return
	}
	if err := fetchHere(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// fetchHere writes the program to the path that it reads.
func fetchHere(in io.Reader) error {
	path, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	to := string(path)
	repository, err := findRepository(filepath.Dir(to))
	if err != nil {
		return err
	}
	archive, err := download(repository + artifact)
	if err != nil {
		return err
	}
	return unpack(archive, builds[runtime.GOOS+"/"+runtime.GOARCH], to)
}

// findRepository asks the library that fetches PostgreSQL where archives come from: the address
// that it would fetch from is read, and nothing is fetched.
func findRepository(dir string) (string, error) {
	asked := &addressReader{}
	before := http.DefaultTransport
	http.DefaultTransport = asked // the library fetches with the default client
	defer func() { http.DefaultTransport = before }()
	err := embedded.NewDatabase(embedded.DefaultConfig().
		CachePath(filepath.Join(dir, "archive")).RuntimePath(filepath.Join(dir, "run")).
		Port(0).Logger(io.Discard)).Start()
	repository, _, found := strings.Cut(asked.url, "io/zonky/")
	if !found {
		return "", fmt.Errorf("where archives come from is unknown: %w", err)
	}
	return repository, nil
}

// addressReader reads the address of a request, and refuses it.
type addressReader struct{ url string }

// RoundTrip implements http.RoundTripper.
func (r *addressReader) RoundTrip(q *http.Request) (*http.Response, error) {
	r.url = q.URL.String()
	return nil, errors.New("only the address is wanted")
}

// download reads an archive. One that is not the pinned one is refused before it is read.
func download(url string) ([]byte, error) {
	response, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", artifact, response.Status)
	}
	return body, checked(body, sum)
}

func checked(archive []byte, want string) error {
	of := sha256.Sum256(archive)
	if got := hex.EncodeToString(of[:]); got != want {
		return fmt.Errorf("the archive's sha256 is %s, but %s is pinned", got, want)
	}
	return nil
}

// unpack writes one file of an archive, as a program.
func unpack(archive []byte, name, to string) error {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return err
	}
	from, err := r.Open(name)
	if err != nil {
		return err
	}
	defer from.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, from)
	return errors.Join(err, out.Close(), os.Chmod(to, 0o755)) // whatever the umask is
}
