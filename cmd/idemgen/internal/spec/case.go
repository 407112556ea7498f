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
		Long: `Writes the draft of a case, testdata/cases/<name>.yaml beside the spec (default: idemgen.yaml
here). It has a record of an event, the rows that the event needs and, as comments, the rows
that the steps of the spec leave. Write the expected rows: until you do, generate refuses the
draft. Run generate after each change of a case. TestCases then plays the case with repeats,
batches of every size and crashes, and compares the tables. A file is never replaced.`,
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
	cmd.Flags().StringVar(&event, "event", "", "name of the event in the spec (default: the first one with Go code, else the first one)")
	machine = command.AsJSON(cmd, "changes")
	return cmd
}
