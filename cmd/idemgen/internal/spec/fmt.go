package spec

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof"
)

// errLayout ends fmt --check with the exit code of check.
var errLayout = command.Differs(errors.New("these files are not formatted: run idemgen fmt"))

// fmtCommand lays specs and cases out.
func fmtCommand() *cobra.Command {
	check := false
	cmd := &cobra.Command{
		Use:   "fmt" + specsUsage,
		Short: "Format specs and their cases",
		Long: `Lays each spec, and the cases beside it, out as idemgen init does, and prints a line per file that
changed: two spaces for each level, lists deeper than their key, one space behind a colon and a
comma and none inside of brackets, at most one empty line, LF. Order, quotes, comments and what
stands on one line stay yours.` + specArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			specs, err := command.FindSpecs(args)
			if err != nil {
				return err
			}
			changed := false
			for _, s := range specs {
				files, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.FromSlash(s.Path)), filepath.FromSlash(proof.CasesFolder), "*.yaml"))
				if err != nil {
					return err
				}
				for _, path := range append([]string{filepath.FromSlash(s.Path)}, files...) {
					is, err := layOut(cmd, path, check)
					if err != nil {
						return err
					}
					changed = changed || is
				}
			}
			if changed && check {
				return errLayout
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "change nothing: fail if a file would change, and name it")
	cmd.ValidArgsFunction = cobra.FixedCompletions([]string{"yaml"}, cobra.ShellCompDirectiveFilterFileExt)
	return cmd
}

// layOut lays a file out, or says that it would.
func layOut(cmd *cobra.Command, path string, check bool) (changed bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	data, err := command.ReadSpec(path)
	if err != nil {
		return false, err
	}
	text, problems := syntax.Format(data)
	if problems.Errors() > 0 {
		return false, errors.Join(problems.Print(cmd.ErrOrStderr(), path, data), errors.New(syntax.Summary(problems.Errors())))
	}
	if bytes.Equal(data, text) {
		return false, nil
	}
	fmt.Fprintln(cmd.OutOrStdout(), filepath.ToSlash(path))
	if check {
		return true, nil
	}
	return true, os.WriteFile(path, text, info.Mode()&fs.ModePerm)
}
