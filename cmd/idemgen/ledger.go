package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
)

// ledgerCommand holds the commands that show what ledgers say.
func ledgerCommand() *cobra.Command {
	var flags streamFlags
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Show what the ledgers say: of a partition, of a record, of a key",
		Long: `tail shows the rows of a ledger, history who owned a partition and what people did to it, find
what became of one record or key. All read only, and a standby will do.`,
	}
	flags.define(cmd)
	asJSON(cmd)
	cmd.AddCommand(ledgerTailCommand(&flags), ledgerHistoryCommand(&flags), ledgerFindCommand(&flags))
	noCompletions(cmd)
	return cmd
}

// optionalPartition reads the third argument of a command, if there is one; else it is -1.
func optionalPartition(args []string) (int32, error) {
	if len(args) < 3 {
		return -1, nil
	}
	n, err := strconv.ParseUint(args[2], 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%q is no partition: want a number from 0", args[2])
	}
	return int32(n), nil
}
