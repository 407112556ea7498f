package sqlcode_test

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/sqlcode"
)

var update = flag.Bool("update", false, "rewrite testdata as the package renders it today")

// The statements of steps are in the code beside their specs, which the command wrote.
func TestStatementsAreInTheCodeBesideTheirSpecs(t *testing.T) {
	n := 0
	for _, pattern := range []string{"accepted/*", "accepted/*/*", "behaviour/*"} {
		specs, err := filepath.Glob(filepath.Join("../../../testdata/golden", pattern, "idemgen.yaml"))
		if err != nil {
			t.Fatal(specs, err)
		}
		for _, file := range specs {
			spec, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(spec), "schema: ") {
				continue
			}
			for _, topic := range load(t, string(spec)).Topics {
				path := filepath.Join(filepath.Dir(file), "idem_"+topic.FileName+"_gen.go")
				code, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				for _, step := range topic.Flush {
					sql := statement(t, step)
					if n++; !strings.Contains(string(code), strings.ReplaceAll(sql, "`", "` + \"`\" + `")) && !strings.Contains(string(code), strconv.Quote(sql)) {
						t.Errorf("%s lacks that of %s:\n%s", path, step.GoName, sql)
					}
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("%d statements", n)
	}
}

// What is written of tables and steps of many kinds is the file in testdata; go test -update
// writes it.
func TestStatementsAreTheFileInTestdata(t *testing.T) {
	spec, err := os.ReadFile("testdata/steps.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := load(t, string(spec))
	created, err := sqlcode.CreateTables(s.Tables)
	if err != nil {
		t.Fatal(err)
	}
	external, err := sqlcode.ExternalTables(s.Tables, s.TextsOf)
	if err != nil {
		t.Fatal(err)
	}
	got := created + "\n-- external\n" + external
	for _, table := range s.Tables {
		for _, c := range table.Columns {
			text, err := sqlcode.AddColumn(table, c)
			if err != nil {
				t.Fatal(err)
			}
			got += text
		}
		for _, key := range table.Unique {
			got += sqlcode.AddUnique(table, key)
		}
		for _, fk := range table.ForeignKeys {
			got += sqlcode.AddForeignKey(table, fk)
		}
	}
	for _, topic := range s.Topics {
		for _, step := range topic.Flush {
			got += "\n-- " + step.GoName + "\n" + statement(t, step) + "\n"
		}
	}
	const file = "testdata/steps.sql"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != got {
		t.Errorf("%v, another %s:\n%s", err, file, got)
	}
}
