package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// checkCommand prints what generate would change.
func checkCommand() *cobra.Command {
	var flags specFlags
	cmd := &cobra.Command{
		Use:   "check" + specsUsage,
		Short: "Print what generate would change",
		Long: `Prints what generate would change, as a unified diff, and writes nothing. Exit code 0: nothing
would change; 1: something would; 2: trouble. Starter files, which are yours, do not count.

With --db the tables of the specs are also compared with a database, and so are those of the
runtime: columns, types, NOT NULL, keys, indexes and rights. Each difference is told with its line
(E620); then the exit code is 1. Without an address behind it, --db takes $DATABASE_URL. The rights
are those of its role: give the service's.` + specArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
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
				if !flags.json.wanted {
					fmt.Fprint(cmd.OutOrStdout(), diff)
				}
			}
			flags.json.members["changes"] = changes
			var different error
			if len(changes) > 0 {
				different = errDifferent
			}
			if flags.database.given && !flags.same {
				different = errors.Join(errDatabase, different)
			}
			return different
		},
	}
	flags.define(cmd)
	flags.database.define(cmd, "db", "also compare the tables with this database")
	return cmd
}
