package spec

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/generator"
)

// caseCommand writes the frame of a case.
func caseCommand() *cobra.Command {
	var machine *command.Answer
	var event string
	cmd := &cobra.Command{
		Use:   "case name [spec | folder]",
		Short: "Write the draft of a case",
		Long: `Writes testdata/cases/<name>.yaml beside the spec (default: idemgen.yaml here): a record of an event,
what it needs, and as comments what the steps of the spec leave. Say in it what must be there then;
until you do, generate refuses it. Generate again whenever you changed a case: TestCases holds the tables against it, with repeats,
batches of every size and crashes. Replaces no file of yours.`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return errors.New("case takes the name of the new case, for example order_paid_twice")
			case len(args) > 2:
				return fmt.Errorf("case takes a name and one spec, and %q is a third argument", args[2])
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			specs, err := command.FindSpecs(args[1:])
			if err != nil {
				return err
			}
			if len(specs) > 1 {
				return fmt.Errorf("%s names %d specs: a case belongs to one", args[1], len(specs))
			}
			result, err := generator.Case(specs[0], args[0], event)
			if err != nil {
				return err
			}
			defer result.Close()
			if err := result.Apply(); err != nil {
				return err
			}
			tell(cmd, machine, result)
			return nil
		},
	}
	cmd.Flags().StringVar(&event, "event", "", "name of the event, as the spec has it (default: the first one with Go code)")
	machine = command.AsJSON(cmd, "changes")
	return cmd
}
