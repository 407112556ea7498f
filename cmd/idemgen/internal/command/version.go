package command

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// built is what the binary was built from. Commit is empty where there was no repository, as with
// go install.
type built struct{ Version, Commit, Go string }

// Version returns the module's version, which ends in +dirty if files differed from the commit,
// the commit, and the version of Go.
func Version() built {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return built{Version: "(unknown)"}
	}
	b := built{Version: info.Main.Version, Go: info.GoVersion}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Commit = s.Value
		}
	}
	return b
}

// String returns what version prints.
func (b built) String() string {
	text := b.Version
	if b.Commit != "" {
		text += ", commit " + b.Commit
	}
	if b.Go != "" {
		text += ", " + b.Go
	}
	return text
}

// versionCommand prints what the binary was built from.
func versionCommand() *cobra.Command {
	var machine *Answer
	cmd := &cobra.Command{
		Use:               "version",
		Short:             "Print the version, the commit and the version of Go",
		Long:              "Prints the version of idemgen, the commit and the version of Go that it was built from, as idemgen --version does.",
		Args:              NoArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if machine.Wanted {
				return nil
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "idemgen %s\n", Version())
			return err
		},
	}
	machine = AsJSON(cmd)
	machine.Members["version"], machine.Members["commit"], machine.Members["go"] = Version().Version, Version().Commit, Version().Go
	return cmd
}
