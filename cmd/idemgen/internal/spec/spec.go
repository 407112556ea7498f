// Package spec has the commands about a spec and the files around it: init writes a first one,
// generate and check make files of it, plan and explain show what it means, and case helps to
// write it. They read flags and print; package generator does the work.
//
// It must not import any package of this module but command, evolution, generator, output,
// internal/pgtable, sampler, survey and syntax.
package spec

import (
	"embed"
	"path"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
)

// Commands are the commands of this package. args are the arguments of the program.
func Commands(args []string) []*cobra.Command {
	return []*cobra.Command{generateCommand(), checkCommand(), planCommand(), explainCommand(), initCommand(args), caseCommand()}
}

//go:embed text
var texts embed.FS

// pages are what the commands print for people.
var pages = command.NewPages(texts, template.FuncMap{
	"base": path.Base, "dir": path.Dir, "join": func(words []string) string { return strings.Join(words, " ") },
	"line": oneLine, "capital": capital,
})
