package architecture

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// How many files one record may pass, and in how many of them it may only need a few statements.
const (
	mostFiles = 60
	mostThin  = 5
	thin      = 4 // statements
)

// One record of one kind passes few files: what is one concept is in one place. Counted are the
// statements that one OrderPlaced needs on its way from franz-go into Postgres, less those that
// also run without a record.
func TestWay(t *testing.T) {
	if name := flag.Lookup("test.run").Value.String(); !strings.Contains(name, "Way") {
		t.Skip("it builds the runtime once more, with counters: run it by name")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "way")
	output(t, "go", "build", "-cover", "-covermode=atomic", "-coverpkg="+strings.Join(append(onTheWay(t), "./way"), ","), "-o", program, "./way")
	output(t, program, "../../examples/orders/migrations", dir)
	idle, record := statements(t, filepath.Join(dir, "idle")), statements(t, filepath.Join(dir, "record 0"))
	for n := 1; n <= 2; n++ { // what one of them meets by chance does not count
		also := statements(t, filepath.Join(dir, fmt.Sprint("record ", n)))
		maps.DeleteFunc(record, func(block string, _ int) bool { return also[block] == 0 })
	}
	files, last := map[string]int{}, map[string]string{}
	packages, all, few := map[string]bool{}, 0, 0
	for block, n := range record {
		file, _, _ := strings.Cut(block, ":")
		if idle[block] == 0 && !strings.Contains(file, "/scripts/") {
			files[file], last[file] = files[file]+n, block
			packages[filepath.Dir(file)] = true
			all += n
		}
	}
	for _, file := range slices.SortedFunc(maps.Keys(files), func(a, b string) int { return files[b] - files[a] }) {
		t.Logf("%4d %s", files[file], strings.TrimPrefix(file, module+"/"))
		if files[file] < thin {
			few++
			t.Log("     such as", last[file])
		}
	}
	t.Logf("%d statements in %d files of %d packages, %d of them with fewer than %d", all, len(files), len(packages), few, thin)
	if len(files) > mostFiles || few > mostThin {
		t.Errorf("a record passes %d files, at most %d are allowed; %d of them, at most %d, for fewer than %d statements", len(files), mostFiles, few, mostThin, thin)
	}
	if len(files) < 20 {
		t.Error("the files of a record were not found")
	}
}

// onTheWay are the packages of the product that a service links.
func onTheWay(t *testing.T) (all []string) {
	for _, path := range strings.Fields(output(t, "go", "list", "-deps", "./way")) {
		name := strings.TrimPrefix(path, module+"/")
		proof := strings.HasPrefix(name, "runtime/idemtest") || strings.HasPrefix(name, "internal/kit")
		if name != path && !proof && (strings.HasPrefix(name, "runtime/") || strings.HasPrefix(name, "internal/")) {
			all = append(all, path)
		}
	}
	return all
}

// statements are the blocks of a folder of counters that ran, with their numbers of statements.
func statements(t *testing.T, folder string) map[string]int {
	text := filepath.Join(folder, "text")
	output(t, "go", "tool", "covdata", "textfmt", "-i="+folder, "-o="+text)
	all := map[string]int{}
	for line := range strings.Lines(read(t, text)) {
		var block string
		var n, count int
		if _, err := fmt.Sscan(line, &block, &n, &count); err == nil && count > 0 {
			all[block] = n
		}
	}
	return all
}

// output runs a program, and returns what it prints.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return string(out)
}
