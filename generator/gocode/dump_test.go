package gocode_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/idemgen/idemgen/generator/sqlcode"
)

func TestDump(t *testing.T) {
	dir := os.Getenv("GOCODE_DUMP")
	spec, err := os.ReadFile(os.Getenv("GOCODE_SPEC"))
	if err != nil {
		t.Skip(err)
	}
	s := load(t, string(spec))
	for _, f := range render(t, s) {
		os.WriteFile(filepath.Join(dir, f.Path), f.Content, 0o644)
	}
	sql, err := sqlcode.CreateTables(s.Tables)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(dir, "schema.sql"), []byte(sql), 0o644)
}
