package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// built is what the binary was built from.
type built struct{ Version, Go string }

// version returns the version of the module, and the one of Go.
func version() built {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return built{Version: "(unknown)"}
	}
	return built{info.Main.Version, info.GoVersion}
}

// versionCommand prints the module version that the binary was built from.
func versionCommand() *cobra.Command {
	var machine *answer
	cmd := &cobra.Command{
		Use:               "version",
		Short:             "Print the version",
		Long:              "Prints the version of idemgen, as idemgen --version does.",
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if machine.wanted {
				return nil
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "idemgen %s\n", version().Version)
			return err
		},
	}
	machine = asJSON(cmd)
	machine.members["version"], machine.members["go"] = version().Version, version().Go
	return cmd
}
