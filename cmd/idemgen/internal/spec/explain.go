package spec

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/generator"
)

// explainCommand says what a spec promises of each event.
func explainCommand() *cobra.Command {
	var out *command.Answer
	cmd := &cobra.Command{
		Use:   "explain [spec | folder]",
		Short: "Show what is guaranteed for each event",
		Long: `Explains each event of a spec in sentences: which tables it writes, with the verbs of its steps and
the columns that find a row; what makes two records one event; which duplicates are recognized and
for how long; what happens if a known key has other content; what orders the event; what happens to
a record that is stale or cannot be applied; what is promised about its effect; and which promise of
the producer would make it faster. It writes nothing. The default spec is idemgen.yaml here.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{generator.SpecFile}
			}
			specs, err := command.FindSpecs(args)
			if err != nil {
				return err
			}
			if len(specs) != 1 {
				return fmt.Errorf("explain takes one spec, but %s has %d", args[0], len(specs))
			}
			e := generator.Explain(specs[0])
			out.Members["diagnostics"] = append([]generator.Diagnostic{}, e.Diagnostics...)
			if e.Refused() {
				if !out.Wanted {
					fmt.Fprint(cmd.ErrOrStderr(), e.Problems, lastLine(e.Summary, false))
				}
				return errRead
			}
			out.Members["topics"] = e.Topics
			if out.Wanted {
				return nil
			}
			page, err := pages.Text("explained", e)
			fmt.Fprint(cmd.OutOrStdout(), page)
			return err
		},
	}
	out = command.AsJSON(cmd, "diagnostics", "topics")
	cmd.ValidArgsFunction = cobra.FixedCompletions([]string{"yaml"}, cobra.ShellCompDirectiveFilterFileExt)
	return cmd
}
