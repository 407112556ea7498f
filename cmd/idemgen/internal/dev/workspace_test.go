package dev

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// The service of a workspace with vendored dependencies is built and run. A change of another
// module that it links restarts it; one of a module that it does not link, or of vendored code,
// does not.
func TestServiceOfAWorkspace(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.work":                        "go 1.26\n\nuse (\n\t./other\n\t./shared\n\t./shop\n)\n",
		"other/go.mod":                   "module example.com/other\n\ngo 1.26\n",
		"other/other.go":                 "package other\n",
		"shared/go.mod":                  "module example.com/shared\n\ngo 1.26\n",
		"shared/shared.go":               "package shared\n\nconst Word = \"one\"\n",
		"copied/go.mod":                  "module example.com/copied\n\ngo 1.26\n",
		"copied/copied.go":               "package copied\n",
		"shop/go.mod":                    "module example.com/shop\n\ngo 1.26\n\nrequire example.com/copied v0.0.0\n\nreplace example.com/copied => ../copied\n",
		"shop/shop.go":                   "package shop\n\nimport _ \"example.com/copied\"\n",
		"shop/migrations/0001_first.sql": "CREATE TABLE a (id int);\n",
		"shop/cmd/s/main.go":             strings.NewReplacer(`"VERSION"`, "shared.Word", "import (", "import (\n\t\"example.com/shared\"").Replace(program),
	} {
		write(t, filepath.Join(root, name), text)
	}
	vendor := exec.CommandContext(t.Context(), "go", "work", "vendor")
	vendor.Dir = root
	if out, err := vendor.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Remove(filepath.Join(root, "copied", "copied.go")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	out, ended := &output{}, make(chan error, 1)
	go func() {
		ended <- Run(ctx, Service{
			Dir: filepath.Join(root, "shop"),
			Generate: func(context.Context) (Parts, error) {
				return Parts{Migrations: filepath.Join(root, "shop", "migrations")}, nil
			},
		}, Options{Partitions: 1, Out: out})
	}()
	out.says(t, "one true true debug", 1)
	write(t, filepath.Join(root, "other", "other.go"), "package other\n\nconst Word = \"two\"\n")
	write(t, filepath.Join(root, "shared", "a", "vendor", "copied.go"), "package copied\n")
	write(t, filepath.Join(root, "shared", "shared.go"), "package shared\n\nconst Word = \"two\"\n")
	out.says(t, "two true true debug", 1)
	if n := strings.Count(out.String(), " changed\n"); n != 1 || !strings.Contains(out.String(), "shared.go changed\n") { // the first by name is told
		t.Errorf("%d changes were seen, want that of shared.go:\n%s", n, out)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// With servers of somebody else's the service runs on them as they are: no record is sent, and
// nothing is made or emptied.
func TestServiceOnServersOfSomebodyElse(t *testing.T) {
	postgres, err := idemtest.StartPostgres(t.Context(), idemtest.PostgresOptions{TCP: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = postgres.Close() })
	theirs := &place{database: postgres.URL()}
	if err := theirs.execute(t.Context(), "CREATE TABLE theirs (id int)"); err != nil {
		t.Fatal(err)
	}
	dir, brokers := t.TempDir(), idemtest.Kafka(t, map[string]int32{"shop.v1": 1}).Addr()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/shop\n\ngo 1.26\n")
	write(t, filepath.Join(dir, "shop.go"), "package shop\n")
	write(t, filepath.Join(dir, "main", "main.go"), strings.Replace(program, `"VERSION"`, `os.Getenv("KAFKA_BROKERS"), os.Getenv("DATABASE_URL")`, 1))
	ctx, cancel := context.WithCancel(t.Context())
	out, ended := &output{}, make(chan error, 1)
	go func() {
		ended <- Run(ctx, Service{
			Dir: dir,
			Generate: func(context.Context) (Parts, error) {
				return Parts{Migrations: filepath.Join(dir, "none"), Topics: []Topic{{Names: []string{"shop.v1"}}}, Samples: []Sample{sample("the test", "", "shop.v1")}}, nil
			},
		}, Options{Database: postgres.URL(), Brokers: brokers, Pause: time.Millisecond, Out: out})
	}()
	out.says(t, brokers+" "+postgres.URL()+" true true debug false false\n", 1)
	out.says(t, "dev: the brokers are yours: send your records to "+brokers+"\n", 1)
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if text := out.String(); strings.Contains(text, "dev: sent") || strings.Contains(text, "dev: Postgres") || strings.Contains(text, "dev: Kafka") {
		t.Error(text)
	}
	if err := theirs.execute(t.Context(), "INSERT INTO theirs VALUES (1)"); err != nil {
		t.Error(err)
	}
	if err := Run(t.Context(), Service{Dir: dir}, Options{Database: "postgres://127.0.0.1:1/none", Brokers: brokers}); err == nil || !strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("a database that does not answer: %v", err)
	}
}

func TestDevOutsideOfAModule(t *testing.T) {
	err := Run(t.Context(), Service{Dir: t.TempDir()}, Options{})
	if err == nil || !strings.Contains(err.Error(), "is in no Go module") {
		t.Errorf("error %v", err)
	}
}

// However the go command reports a module that lacks requirements, the error names go mod tidy.
func TestModuleThatIsNotComplete(t *testing.T) {
	for _, tc := range []struct{ goMod, code, reported string }{
		{"", "import _ \"example.com/none\"", "no required module provides package"},
		{"require example.com/none v1.0.0\n", "import _ \"example.com/none\"", "missing go.sum entry"},
		{"require (\n\texample.com/b v0.0.0\n\texample.com/c v0.0.1\n)\n\nreplace example.com/b => ./b\n\nreplace example.com/c => ./c\n", "import _ \"example.com/b\"", "updates to go.mod needed"},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "go.mod"), "module example.com/shop\n\ngo 1.26\n\n"+tc.goMod)
		write(t, filepath.Join(dir, "main.go"), "package main\n\n"+tc.code+"\n\nfunc main() {}\n")
		write(t, filepath.Join(dir, "b", "go.mod"), "module example.com/b\n\ngo 1.26\n\nrequire example.com/c v0.0.2\n")
		write(t, filepath.Join(dir, "b", "b.go"), "package b\n")
		write(t, filepath.Join(dir, "c", "go.mod"), "module example.com/c\n\ngo 1.26\n")
		r := &run{Service: Service{Dir: dir, Program: "."}, folder: t.TempDir()}
		_, err := r.build(t.Context())
		if err == nil || !strings.Contains(err.Error(), tc.reported) || !strings.Contains(err.Error(), "is not complete: run go mod tidy\n") {
			t.Errorf("%s: %v", tc.reported, err)
		}
	}
}
