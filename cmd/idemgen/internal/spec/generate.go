package spec

import (
	"fmt"
	"os"
	"path"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/generator"
)

// generateCommand writes what the specs ask for.
func generateCommand() *cobra.Command {
	var flags specFlags
	cmd := &cobra.Command{
		Use:   "generate" + specsUsage,
		Short: "Write the files that the specs describe",
		Long: `Writes the Go code, tests, migrations and idem.state.yaml of each spec, and prints a line for
each changed file. If any spec has errors, nothing is written. Your own files are never changed.` + specArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			result, err := flags.load(cmd, args)
			if err != nil {
				return err
			}
			defer result.Close()
			if err := result.Apply(); err != nil {
				return err
			}
			tell(cmd, flags.json, result)
			fmt.Fprint(cmd.ErrOrStderr(), result.Notes)
			noteRemoved(cmd, result)
			return nil
		},
	}
	flags.writes = true
	flags.define(cmd)
	return cmd
}

// noteRemoved says what go generate, which has listed the files before, makes of a file that
// is gone.
func noteRemoved(cmd *cobra.Command, result *generator.Result) {
	if os.Getenv("GOFILE") == "" { // set by go generate
		return
	}
	for _, name := range result.Removed() {
		if path.Ext(name) == ".go" {
			fmt.Fprintf(cmd.ErrOrStderr(), "removed %s: \"go generate\" may now say that it cannot open it; run it once more\n", name)
		}
	}
}
