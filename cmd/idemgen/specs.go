package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/generator/output"
)

const specArguments = `

A spec is named by its file or its folder (idemgen.yaml in it); dir/... stands for every
idemgen.yaml in dir and below, but for folders named vendor, testdata or node_modules, those
whose names begin with . or _, and other Go modules. Without arguments: idemgen.yaml here.

With --json the problems of the specs and the files go to stdout: an object with diagnostics
and changes.`

// specsUsage is how generate and check are called.
const specsUsage = " [spec | folder | dir/...] ..."

// specFlags are the flags of generate and check.
type specFlags struct {
	strict, json bool
}

func (f *specFlags) define(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.strict, "strict", false, "warnings count as errors")
	asJSON(cmd, &f.json)
	cmd.ValidArgsFunction = cobra.FixedCompletions([]string{"yaml"}, cobra.ShellCompDirectiveFilterFileExt)
}

// load runs the generator over the specs that the arguments name. Without an error the specs
// are in order, and the result must be closed.
func (f *specFlags) load(cmd *cobra.Command, args []string) (*generator.Result, error) {
	specs, err := findSpecs(args)
	if err != nil {
		return nil, err
	}
	result, err := generator.Generate(cmd.Context(), specs, f.strict)
	if err == nil && result.Refused {
		err = errSaid
		defer result.Close()
	}
	if !f.json {
		fmt.Fprint(cmd.ErrOrStderr(), result.Problems)
	} else if err != nil {
		if failed := f.report(cmd, result, nil); failed != nil {
			return nil, failed
		}
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

// change is a file that generate writes or removes, as JSON.
type change struct {
	Op   output.Op `json:"op"`
	Path string    `json:"path"`
	Diff string    `json:"diff,omitempty"` // check only
}

// report prints what was found as JSON.
func (f *specFlags) report(cmd *cobra.Command, result *generator.Result, changes []change) error {
	return printJSON(cmd, struct {
		Diagnostics []generator.Diagnostic `json:"diagnostics"`
		Changes     []change               `json:"changes"`
	}{append([]generator.Diagnostic{}, result.Diagnostics...), append([]change{}, changes...)})
}
