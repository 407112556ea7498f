// Command mutants plants one bug at a time and checks that a test fails. A bug that
// nobody catches is a missing test. The working tree stays as it is: a bug is planted by
// an overlay of the go command.
//
// Its last line is "mutants: N planted, N caught"; it exits 1 if a bug was not caught.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	only := flag.String("only", "", "plant only bugs whose name matches this regular expression")
	flag.Parse()
	if err := run(*only); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(only string) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	count, caught := 0, 0
	for _, m := range slices.Concat(planted, keyBugs, outageBugs, sessionBugs) {
		if !match.MatchString(m.name) {
			continue
		}
		count++
		start := time.Now()
		test, err := m.plant(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		verdict := "NOT CAUGHT by " + m.test
		if test != "" {
			caught++
			verdict = "caught by " + test
		}
		fmt.Printf("%-62s %s (%.0f s)\n", m.name, verdict, time.Since(start).Seconds())
	}
	fmt.Printf("mutants: %d planted, %d caught\n", count, caught)
	if caught < count {
		return fmt.Errorf("%d not caught", count-caught)
	}
	return nil
}

// mutant is one planted bug.
type mutant struct {
	name  string
	edits []edit
	test  string // arguments of go test: packages and -run
}

// edit replaces one text by another in a file; the text must occur exactly once.
type edit struct{ file, old, new string }

// plant runs the mutant's tests on the changed code and returns the first that failed.
func (m mutant) plant(dir string) (failed string, err error) {
	replace := map[string]string{}
	for i, e := range m.edits {
		file, err := filepath.Abs(e.file)
		if err != nil {
			return "", err
		}
		from := file
		if earlier, ok := replace[file]; ok {
			from = earlier
		}
		src, err := os.ReadFile(from)
		if err != nil {
			return "", err
		}
		if n := strings.Count(string(src), e.old); n != 1 {
			return "", fmt.Errorf("%s: the text to replace occurs %d times: %q", e.file, n, e.old)
		}
		out := filepath.Join(dir, fmt.Sprintf("%d_%s", i, filepath.Base(e.file)))
		if err := os.WriteFile(out, []byte(strings.Replace(string(src), e.old, e.new, 1)), 0o644); err != nil {
			return "", err
		}
		replace[file] = out
	}
	overlay := filepath.Join(dir, "overlay.json")
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, b, 0o644); err != nil {
		return "", err
	}
	args := append([]string{"test", "-count=1", "-timeout=120s", "-failfast", "-overlay=" + overlay}, strings.Fields(m.test)...)
	out, err := exec.Command("go", args...).CombinedOutput()
	if err == nil {
		return "", nil
	}
	return firstFailure(string(out))
}

var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// firstFailure names the failed test that is deepest in the first failed tree. A mutant that
// does not compile is no mutant.
func firstFailure(out string) (string, error) {
	if strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]") {
		return "", fmt.Errorf("the planted bug does not compile:\n%s", out)
	}
	all := failure.FindAllStringSubmatch(out, -1)
	if len(all) == 0 {
		if strings.Contains(out, "panic: test timed out") {
			return "time-out", nil
		}
		return "", fmt.Errorf("go test failed without a failed test:\n%s", out)
	}
	name := all[0][1]
	for _, f := range all {
		if strings.HasPrefix(f[1], name+"/") {
			name = f[1]
		}
	}
	return name, nil
}
