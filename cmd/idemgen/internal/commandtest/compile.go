package commandtest

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/typecheck"
)

// Librdkafka is the package with the Kafka client that needs cgo, which tests name that are built
// with cgo; "" without.
var Librdkafka string

// whatServicesImport is what the code of a service may import.
var whatServicesImport = sync.OnceValues(func() (*typecheck.Checker, error) {
	return typecheck.New(context.Background(), Repository,
		"./runtime/idem", "./runtime/avro/registry", "./runtime/"+cmp.Or(Librdkafka, "franz"), "./runtime/franz", "./runtime/idemprom", "./runtime/idemtest", "./runtime/protobuf", "./runtime/redislease", "./runtime/wire/strictjson",
		"github.com/prometheus/client_golang/prometheus", "github.com/prometheus/client_golang/prometheus/promhttp", "github.com/twmb/franz-go/pkg/sr")
})

// Compiles fails unless the packages of the module here compile, their tests included. Without cgo
// it leaves out programs that need it.
func Compiles(t *testing.T) {
	t.Helper()
	checker, err := whatServicesImport()
	if err != nil {
		t.Fatal(err)
	}
	folders := foldersOfGo(t)
	if len(folders) == 0 {
		t.Fatal("no folder has Go files")
	}
	for _, dir := range folders {
		if main, _ := os.ReadFile(filepath.Join(dir, "main.go")); Librdkafka == "" && strings.Contains(string(main), `runtime/confluent"`) {
			continue
		}
		if err := checker.CheckDir(path.Join("example.com/orders", filepath.ToSlash(dir)), dir); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// foldersOfGo are those with Go files, a program behind the package that it imports.
func foldersOfGo(t *testing.T) (folders []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if dir := filepath.Dir(path); strings.HasSuffix(path, ".go") && !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(folders, func(a, b string) int { return len(a) - len(b) })
	return folders
}
