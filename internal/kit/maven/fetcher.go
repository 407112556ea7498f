//go:build unix

package maven

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	embedded "github.com/fergusstrange/embedded-postgres"
)

// roleEnv is set in a copy of this program that is not to be the program but the fetcher.
const (
	roleEnv     = "IDEMTEST_ROLE"
	roleFetcher = "maven-fetcher"
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

// order is what the fetcher reads.
type order struct {
	Dir      string
	Archives []Archive
}

// downloads is how many archives are read at a time.
const downloads = 6

// fetchHere does what the order says.
func fetchHere(in io.Reader) error {
	var o order
	if err := json.NewDecoder(in).Decode(&o); err != nil {
		return err
	}
	repository, err := findRepository(o.Dir)
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	errs := make([]error, len(o.Archives))
	free := make(chan struct{}, downloads)
	for i, a := range o.Archives {
		running.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			errs[i] = a.download(repository, o.Dir)
		})
	}
	running.Wait()
	return errors.Join(errs...)
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

// download writes the archive into a folder, if it is the pinned one.
func (a Archive) download(repository, dir string) error {
	response, err := http.Get(repository + a.Path)
	if err != nil {
		return fmt.Errorf("%s: %w", a.Path, err)
	}
	body, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return fmt.Errorf("%s: %w", a.Path, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", a.Path, response.Status)
	}
	if err := a.checked(body); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, path.Base(a.Path)), body, 0o644)
}

func (a Archive) checked(body []byte) error {
	of := sha256.Sum256(body)
	if got := hex.EncodeToString(of[:]); got != a.Sum {
		return fmt.Errorf("%s: the archive's sha256 is %s, but %s is pinned", a.Path, got, a.Sum)
	}
	return nil
}
