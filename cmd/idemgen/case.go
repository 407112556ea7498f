package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/generator"
)

// caseCommand writes a draft of a case.
func caseCommand() *cobra.Command {
	var wanted generator.NewCase
	var machine *answer
	cmd := &cobra.Command{
		Use:   "case name [spec | folder]",
		Short: "Write a first draft of a case",
		Long: `Writes testdata/cases/<name>.yaml beside the spec (default: idemgen.yaml here): the records that an
event needs, the event with all its fields, and what the steps of the spec make of them. Then
generates: TestCases holds the tables against the case, with repeats, batches of every size and
crashes. Generate again whenever you changed a case. Replaces no file of yours.

What Go code does, only you know: the case of an event with a handler is a draft, and refused until
you say it under then and remove the line draft.`,
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
			wanted.Name = args[0]
			specs, err := findSpecs(args[1:])
			if err != nil {
				return err
			}
			if len(specs) > 1 {
				return fmt.Errorf("%s names %d specs: a case belongs to one", args[1], len(specs))
			}
			result, err := generator.Case(cmd.Context(), specs[0], wanted)
			if err != nil {
				return err
			}
			defer result.Close()
			machine.members["diagnostics"] = append([]generator.Diagnostic{}, result.Diagnostics...)
			if !machine.wanted {
				fmt.Fprint(cmd.ErrOrStderr(), result.Problems, lastLine(result.Summary, true))
			}
			if result.Refused {
				return errProblems
			}
			if err := result.Apply(); err != nil {
				return err
			}
			machine.tell(cmd, result)
			fmt.Fprint(cmd.ErrOrStderr(), result.Notes)
			return nil
		},
	}
	machine = asJSON(cmd, "diagnostics", "changes")
	cmd.Flags().StringVar(&wanted.Event, "event", "", "event of the spec (default: one with Go code that no case holds)")
	return cmd
}
