package operators

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A database that does not answer is one finding among others: the rest is examined all the same,
// and of a topic nothing is said that only the ledgers know.
func TestDoctorGoesOnWithoutTheDatabase(t *testing.T) {
	brokers := log(t, 1, 9)
	for address, want := range map[string]string{
		"postgres://ann:secret@127.0.0.1:1/shop": "database: connect to the database that $DATABASE_URL names: ",
		"nonsense://ann:secret@":                 "database: --database, or $DATABASE_URL, is not the address of a database",
	} {
		t.Setenv("DATABASE_URL", address)
		if failed := checked(t, "FAIL", "--brokers", brokers); len(failed) != 1 || !strings.HasPrefix(failed[0], want) || strings.Contains(failed[0], "secret") {
			t.Errorf("%q", failed)
		}
		topics := slices.DeleteFunc(checked(t, "ok", "--brokers", brokers), func(l string) bool { return !strings.HasPrefix(l, "topic ") })
		if len(topics) != 1 || !strings.HasSuffix(topics[0], "1 partition; how much of it was applied is unknown, because no ledger was read") {
			t.Errorf("%q", topics)
		}
	}
}

// The sections that doctor's advice names are in the manual.
func TestDoctorNamesSectionsThatAreThere(t *testing.T) {
	files, err := filepath.Glob("../doctor/*.go")
	if err != nil {
		t.Fatal(err)
	}
	manual, named := read(t, "../../../../docs/operations.md"), 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range regexp.MustCompile(`manual\("([^"]+)"\)`).FindAllStringSubmatch(read(t, file), -1) {
			named++
			if !regexp.MustCompile(`(?m)^#+ ` + regexp.QuoteMeta(m[1]) + `$`).MatchString(manual) {
				t.Errorf("%s: docs/operations.md has no section %q", file, m[1])
			}
		}
		if strings.Count(read(t, file), "operations.md") > 1 {
			t.Errorf("%s: a section is named without manual", file)
		}
	}
	if named < 8 {
		t.Errorf("%d sections are named", named)
	}
}
