package spec

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/internal/gen/output"
)

const specArguments = `

Name a spec by its file, or by the folder of its idemgen.yaml. dir/... means every idemgen.yaml
in dir and below, except in folders named vendor, testdata or node_modules, in folders whose
names begin with . or _, and in other Go modules. The default is idemgen.yaml here.

With --json, the problems of the specs and the files go to stdout, as an object with the members
diagnostics and changes, and error if the command fails.`

// specsUsage is how generate and check are called.
const specsUsage = " [spec | folder | dir/...] ..."

// specFlags are the flags of generate and check.
type specFlags struct {
	json   *command.Answer
	format string // of check: "" is text, or JSON if that is wanted; else one of formats
	writes bool   // the command is generate
}

func (f *specFlags) define(cmd *cobra.Command) {
	f.json = command.AsJSON(cmd, "diagnostics", "changes")
	cmd.ValidArgsFunction = cobra.FixedCompletions([]string{"yaml"}, cobra.ShellCompDirectiveFilterFileExt)
}

// load runs the generator over the specs that the arguments name. Without an error the specs
// are in order, and the result must be closed.
func (f *specFlags) load(cmd *cobra.Command, args []string) (*generator.Result, error) {
	specs, err := command.FindSpecs(args)
	if err != nil {
		return nil, err
	}
	result, err := generator.Generate(specs)
	refused := result.Refused
	f.json.Members["diagnostics"] = append([]generator.Diagnostic{}, result.Diagnostics...)
	switch print := formats[f.format]; {
	case print != nil && refused:
		err = errors.Join(err, print(cmd.OutOrStdout(), findings(result.Diagnostics, nil)))
	case print == nil && !f.json.Wanted:
		fmt.Fprint(cmd.ErrOrStderr(), result.Problems, lastLine(result.Summary, f.writes))
	}
	switch {
	case err == nil && refused && f.writes:
		err = errors.Join(errProblems, result.Close())
	case err == nil && refused:
		err = errors.Join(errRead, result.Close())
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

// errProblems ends a command that has told the problems of the specs, and errRead one that would
// write nothing anyway.
var (
	errRead     = command.Said(errors.New("the specs have problems, see diagnostics"))
	errProblems = command.Said(errors.New("the specs have problems, see diagnostics; nothing was written"))
)

// lastLine is the line behind the problems of specs; "" if there are no errors. writes says that
// the command would have written files.
func lastLine(summary string, writes bool) string {
	switch {
	case summary == "":
		return ""
	case writes:
		return summary + "; nothing was written\n"
	}
	return summary + "\n"
}

// change is a file that generate writes or removes, as JSON.
type change struct {
	Op   output.Op `json:"op"`
	Path string    `json:"path"`
	Diff string    `json:"diff,omitempty"` // check only
}

// tell prints the files that were written or removed, or adds them to the JSON.
func tell(cmd *cobra.Command, a *command.Answer, result *generator.Result) {
	changes := []change{}
	for _, c := range result.Changes {
		changes = append(changes, change{Op: c.Op, Path: c.Path})
		if !a.Wanted {
			fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", c.Op, c.Path)
		}
	}
	a.Members["changes"] = changes
}
