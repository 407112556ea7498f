package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionCommand prints the module version that the binary was built from.
func versionCommand() *cobra.Command {
	var machine bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  "Prints the version of idemgen.",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			built := struct {
				Version string `json:"version"`
				Go      string `json:"go"`
			}{Version: "(unknown)"}
			if info, ok := debug.ReadBuildInfo(); ok {
				built.Version, built.Go = info.Main.Version, info.GoVersion
			}
			if machine {
				return printJSON(cmd, built)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "idemgen %s\n", built.Version)
			return err
		},
	}
	asJSON(cmd, &machine)
	return cmd
}
