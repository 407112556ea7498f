package spec

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
)

// errDifferent ends check with its own exit code.
var errDifferent = command.Differs(errors.New("generated files differ from the spec: run idemgen generate"))

// checkCommand prints what generate would change.
func checkCommand() *cobra.Command {
	var flags specFlags
	cmd := &cobra.Command{
		Use:   "check" + specsUsage,
		Short: "Print the changes that generate would make",
		Long: `Prints the changes that generate would make, as a unified diff, and writes nothing. Exit code 0:
no changes; 1: changes; 2: an error. Starter files, which are yours, do not count.` + specArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			print := formats[flags.format]
			switch {
			case flags.format == "json":
				flags.json.Wanted = true
			case print == nil && flags.format != "text":
				return fmt.Errorf("--format %s: want text, json, github or sarif", flags.format)
			}
			result, err := flags.load(cmd, args)
			if err != nil {
				return err
			}
			defer result.Close()
			changes := []change{}
			for _, c := range result.Changes {
				diff := c.Diff()
				if diff == "" {
					continue
				}
				changes = append(changes, change{c.Op, c.Path, diff})
				if print == nil && !flags.json.Wanted {
					fmt.Fprint(cmd.OutOrStdout(), diff)
				}
			}
			flags.json.Members["changes"] = changes
			if print != nil {
				if err := print(cmd.OutOrStdout(), findings(result.Diagnostics, changes)); err != nil {
					return err
				}
			}
			if len(changes) > 0 {
				return errDifferent
			}
			return nil
		},
	}
	flags.define(cmd)
	cmd.Flags().StringVar(&flags.format, "format", "text", "output format of problems and files: text, json, github (lines of a pull request) or sarif")
	return cmd
}
