package proof

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// Schemas returns what reads the schemas that a spec names, .proto and .avsc files. Package
// testmessages sets it, so that tests of services without such files do not link their parsers.
var Schemas func(file func(path string) ([]byte, error)) resolve.Schemas

// Read reads the spec at a path. Digest is that of the spec from which the code was generated: if
// the spec is another one by now, this is the error.
func Read(path, digest string) (*Service, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	files, unlinked := Files{}, false
	s, err := resolve.Service(path, content, func(spec *syntax.Spec) (func(*model.Service) syntax.Diagnostics, syntax.Diagnostics) {
		if unlinked = Schemas == nil && hasSchemas(spec); unlinked || Schemas == nil {
			return func(*model.Service) (none syntax.Diagnostics) { return none }, syntax.Diagnostics{}
		}
		return Schemas(files.Reader(func(name string) ([]byte, error) {
			return os.ReadFile(filepath.Join(filepath.Dir(path), filepath.FromSlash(name)))
		}))(spec)
	})
	switch {
	case unlinked:
		return nil, fmt.Errorf("%s has schemas, and nothing reads them: import runtime/idemtest/testmessages in a test file", path)
	case files.Digest(content) != digest:
		return nil, fmt.Errorf("%s has changed since the code was generated: run go generate", path)
	case err != nil:
		return nil, err
	}
	return Of(s), nil
}

func hasSchemas(spec *syntax.Spec) bool {
	return slices.ContainsFunc(spec.Topics, func(t *syntax.Topic) bool {
		return t.Payload != nil && !t.Payload.Broken && t.Payload.OfMessages() || t.KeyFormat != nil && !t.KeyFormat.Broken && t.KeyFormat.OfMessages()
	})
}

// Files are the files that a spec names, by their paths from it.
type Files map[string][]byte

// Reader returns read, and keeps what it reads.
func (f Files) Reader(read func(path string) ([]byte, error)) func(path string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		content, err := read(path)
		if err == nil {
			f[path] = content
		}
		return content, err
	}
}

// Digest identifies a spec with the files that it names, whatever their lines end in.
func (f Files) Digest(spec []byte) string {
	h := sha256.New()
	add := func(content []byte) {
		text := strings.ReplaceAll(string(content), "\r\n", "\n")
		fmt.Fprintf(h, "%d\n%s", len(text), text)
	}
	add(spec)
	for _, path := range slices.Sorted(maps.Keys(f)) {
		fmt.Fprintf(h, "%q\n", path)
		add(f[path])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
