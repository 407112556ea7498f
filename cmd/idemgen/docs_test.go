package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
)

var (
	ofMake    = regexp.MustCompile(`(?:^|[\s;])make ([a-z0-9-]+)`)
	ofScripts = regexp.MustCompile(`go run \./(\S+)`)
)

// What the documentation says to type is there: commands of idemgen with their flags, targets of
// make, programs of this repository.
func TestCommandsInTheDocumentationExist(t *testing.T) {
	pages, _ := filepath.Glob("../../docs/*.md")
	examples, _ := filepath.Glob("../../examples/*/README.md")
	makefile := read(t, "../../Makefile")
	seen := 0
	for _, page := range append(append(pages, examples...), "../../README.md", "../../CONTRIBUTING.md") {
		for _, line := range commandtest.Lines(read(t, page)) {
			seen++
			cmd, err := idemgen.Find(line)
			if err != nil && strings.Contains(err.Error(), "flag needs an argument") { // it is only named
				err = nil
			}
			if err != nil || cmd.HasSubCommands() && cmd.Flags().NArg() > 0 {
				t.Errorf("%s: idemgen %s: %v", page, line, err)
			}
		}
		for _, code := range commandtest.Code(read(t, page)) {
			for _, m := range ofMake.FindAllStringSubmatch(code, -1) {
				seen++
				if !strings.Contains(makefile, "\n"+m[1]+":") {
					t.Errorf("%s: make %s is no target", page, m[1])
				}
			}
			for _, m := range ofScripts.FindAllStringSubmatch(code, -1) {
				if strings.HasPrefix(m[1], "cmd/") && m[1] != "cmd/idemgen" { // of a service
					continue
				}
				seen++
				if _, err := os.Stat("../../" + m[1]); err != nil {
					t.Errorf("%s: %v", page, err)
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("%d commands", seen)
	}
}
