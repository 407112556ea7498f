package spec

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/internal/gen/evolution"
)

// errBreaks ends plan with its own exit code.
var errBreaks = command.Said(command.Differs(errors.New("the change breaks")))

// planCommand says what the changes of a spec mean.
func planCommand() *cobra.Command {
	base := "HEAD"
	var out *command.Answer
	cmd := &cobra.Command{
		Use:   "plan [[old] new]",
		Short: "Show the consequences of a change to a spec",
		Long: `Compares a spec with an earlier version, and prints a line for each change: the verdict, the
reason, and what to do. The output is Markdown, for pull requests. It writes nothing.

The earlier version is read from git, at HEAD or --base, with the state beside it. With two
specs, it is the first one. The default spec is idemgen.yaml here. In CI, compare with the
target branch: idemgen plan --base origin/main

Exit code 0: nothing breaks; 1: a change breaks deduplication, makes dead letters of records
that are still in a topic, lets an older version apply events without a call, or reads every
topic again; 2: an error.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 2 {
				return fmt.Errorf("plan compares two specs, an old and a new one, not %d", len(args))
			}
			name := generator.SpecFile
			if len(args) > 0 {
				name = args[len(args)-1]
			}
			specs, err := command.FindSpecs([]string{name})
			if err != nil {
				return err
			}
			now := specs[0]
			before, against, err := earlier(cmd, args, now, base)
			if err != nil {
				return err
			}
			plan := &generator.Plan{}
			if before != nil {
				if plan, err = generator.PlanOf(*before, now); err != nil {
					return err
				}
			}
			out.Members["diagnostics"] = append([]generator.Diagnostic{}, plan.Diagnostics...)
			out.Members["changes"] = append([]evolution.Change{}, plan.Changes...)
			if plan.Refused() {
				if !out.Wanted {
					fmt.Fprint(cmd.ErrOrStderr(), plan.Problems, lastLine(plan.Summary, false))
				}
				return errRead
			}
			if !out.Wanted {
				page, err := pages.Text("plan", map[string]any{"Spec": now.Path, "Against": against, "Changes": plan.Changes, "First": before == nil})
				fmt.Fprint(cmd.OutOrStdout(), page)
				if err != nil {
					return err
				}
			}
			for _, c := range plan.Changes {
				if c.Verdict.Breaks() {
					return errBreaks
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&base, "base", base, "git commit or branch to compare with")
	out = command.AsJSON(cmd, "diagnostics", "changes")
	cmd.ValidArgsFunction = cobra.FixedCompletions([]string{"yaml"}, cobra.ShellCompDirectiveFilterFileExt)
	return cmd
}

// earlier is the version to compare with, and what it is called; nil if there is none.
func earlier(cmd *cobra.Command, args []string, now generator.Spec, base string) (*generator.Before, string, error) {
	if len(args) < 2 {
		at, err := specAt(cmd.Context(), base, now.Path)
		return at, base, err
	}
	if cmd.Flags().Changed("base") {
		return nil, "", errors.New("--base selects a version in git, and cannot be used with an old spec")
	}
	specs, err := command.FindSpecs(args[:1])
	if err != nil {
		return nil, "", err
	}
	// The state beside it is not read, since it may be of another spec.
	return &generator.Before{Spec: specs[0]}, specs[0].Path, nil
}

// oneLine keeps texts of a spec from breaking out of their line, or becoming HTML.
func oneLine(text string) string {
	pieces := strings.Split(strings.NewReplacer("\n", " ", "\r", " ").Replace(text), "`")
	for i := range pieces {
		if inCode := i%2 == 1 && i < len(pieces)-1; !inCode {
			pieces[i] = strings.ReplaceAll(pieces[i], "<", "&lt;")
		}
	}
	return strings.Join(pieces, "`")
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
