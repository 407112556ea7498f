package main

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/typecheck"
)

// repository is the root of this repository. Tests go elsewhere.
var repository = sync.OnceValue(func() string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return dir
})

func TestMain(m *testing.M) {
	repository() // before a test changes the working directory
	for _, name := range []string{"DATABASE_URL", "KAFKA_BROKERS", "SCHEMA_REGISTRY_URL", "REDIS_URL"} {
		if err := os.Unsetenv(name); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// librdkafka is the package with the Kafka client that needs cgo; "" without cgo.
var librdkafka string

// whatServicesImport is what the code of a service may import.
var whatServicesImport = sync.OnceValues(func() (*typecheck.Checker, error) {
	return typecheck.New(context.Background(), repository(),
		"./runtime/idem", "./runtime/avro/registry", "./runtime/"+cmp.Or(librdkafka, "franz"), "./runtime/franz", "./runtime/idemprom", "./runtime/idemtest", "./runtime/protobuf", "./runtime/redislease", "./runtime/wire/strictjson",
		"github.com/prometheus/client_golang/prometheus", "github.com/prometheus/client_golang/prometheus/promhttp", "github.com/twmb/franz-go/pkg/sr")
})

// compiles fails unless the packages of the module here compile, their tests included. Without cgo
// it leaves out programs that need it.
func compiles(t *testing.T) {
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
		if main, _ := os.ReadFile(filepath.Join(dir, "main.go")); librdkafka == "" && strings.Contains(string(main), `runtime/confluent"`) {
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

// goCommand makes the module here complete, as the lines that init prints do but with this
// repository in place of a release, and runs the go command on it.
func goCommand(t *testing.T, args ...string) (string, error) {
	t.Helper()
	requires := read(t, filepath.Join(repository(), "go.mod"))
	_, requires, _ = strings.Cut(requires, "\nrequire (")
	write(t, "go.mod", "module example.com/orders\n\ngo 1.26.0\n\nrequire github.com/idemgen/idemgen v0.0.0\n\n"+
		"replace github.com/idemgen/idemgen => "+repository()+"\n\nrequire ("+requires)
	write(t, "go.sum", read(t, filepath.Join(repository(), "go.sum")))
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}
