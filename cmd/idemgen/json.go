package main

import (
	"encoding/json"

	"github.com/spf13/cobra"
)

// asJSON adds the flag --json.
func asJSON(cmd *cobra.Command, value *bool) {
	cmd.PersistentFlags().BoolVar(value, "json", false, "print JSON")
}

// printJSON prints what a machine reads.
func printJSON(cmd *cobra.Command, value any) error {
	e := json.NewEncoder(cmd.OutOrStdout())
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(value)
}
