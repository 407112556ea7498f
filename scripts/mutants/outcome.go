package main

import (
	"regexp"
	"strings"
	"time"
)

// outcome is what a run of a test binary printed, in the form of go test -v.
type outcome struct {
	results map[string]string        // PASS, FAIL or SKIP of each test, by name
	took    map[string]time.Duration // by name
	order   []string                 // the names, in the order of the results
	silent  string                   // why the run ended before its tests did; "" if they ended
	says    bool                     // a test printed a message
	out     string
}

var (
	resultLine  = regexp.MustCompile(`(?m)^\s*--- (PASS|FAIL|SKIP): (\S+) \((\S+)\)`)
	messageLine = regexp.MustCompile(`(?m)^\s+[\w.-]+\.go:\d+: `)
	crashLine   = regexp.MustCompile(`(?m)^(panic: .*|fatal error: .*|SIG[A-Z]+: .*)`)
)

// read reads what a run printed.
func read(out string) outcome {
	o := outcome{results: map[string]string{}, took: map[string]time.Duration{}, says: messageLine.MatchString(out), out: out}
	for _, r := range resultLine.FindAllStringSubmatch(out, -1) {
		o.results[r[2]] = r[1]
		o.took[r[2]], _ = time.ParseDuration(r[3])
		o.order = append(o.order, r[2])
	}
	switch crash := crashLine.FindString(out); {
	case strings.HasPrefix(crash, "panic: test timed out"):
		o.silent = "timed out: it must say itself what it waited for"
	case crash != "":
		o.silent = "crashed: " + crash
	}
	return o
}

// failed reports whether a test, or one within it, failed by a message; which is the deepest.
func (o outcome) failed(test string) (deepest string, ok bool) {
	if o.silent != "" || o.results[test] != "FAIL" || !o.says {
		return "", false
	}
	deepest = test
	for _, name := range o.order {
		if o.results[name] == "FAIL" && strings.HasPrefix(name, deepest+"/") {
			deepest = name
		}
	}
	return deepest, true
}

// passed reports whether a test ran and passed.
func (o outcome) passed(test string) bool { return o.silent == "" && o.results[test] == "PASS" }

// why says why a test neither passed nor failed.
func (o outcome) why(test string) string {
	switch {
	case o.silent != "":
		return o.silent
	case o.results[test] == "SKIP":
		return "was skipped"
	case o.results[test] == "":
		return "did not run, or the process ended within it"
	}
	return "failed without a message"
}

// tail is the end of what was printed.
func (o outcome) tail() string {
	lines := strings.Split(strings.TrimSpace(o.out), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}
