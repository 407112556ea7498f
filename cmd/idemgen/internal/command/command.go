// Package command is what all commands of idemgen share: the program around them, with its help
// and exit codes; flags, JSON answers and text pages; specs on disk, connections to databases and
// brokers; and masking of secrets. The commands themselves are in other packages.
//
// It must not import any package of this module but generator, internal/gen/syntax,
// internal/operate, internal/pgtable, internal/seeds and internal/visible.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	Done      = 0
	Different = 1 // check, plan and doctor
	Trouble   = 2
)

type (
	differs struct{ error }
	said    struct{ error }
)

func (e said) Unwrap() error { return e.error }

// Differs makes an error end its command with the exit code Different.
func Differs(err error) error { return differs{err} }

// Said marks an error that is on stderr already.
func Said(err error) error { return said{err} }

// Run runs one of the commands with arguments, without the program's name, and returns the
// exit code: 0 done, 1 changes (check), breaks (plan) or fails (doctor), 2 trouble. Data
// goes to stdout, prose to stderr.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer, commands ...*cobra.Command) int {
	stdout, stderr = printable{stdout}, printable{stderr}
	root := Root(stdout, stderr, commands...)
	running := false
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		err := requiredFlags(cmd)
		running = err == nil
		return err
	}
	root.SetArgs(append([]string{}, args...)) // nil would stand for those of the process
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !running { // the arguments are wrong
		err = fmt.Errorf("%w; see %s", err, strings.Replace(cmd.CommandPath(), root.Name(), root.Name()+" help", 1))
	}
	code := Done
	if _, differ := errors.AsType[differs](err); differ {
		code = Different
	} else if err != nil {
		code = Trouble
	}
	text := ""
	if err != nil {
		text = Mask(err.Error(), args)
	}
	if _, twice := errors.AsType[said](err); err != nil && !twice {
		fmt.Fprintf(stderr, "idemgen: %s\n", text)
	}
	if a := AnswerOf(cmd); a != nil && (running && a.Wanted || !running && err != nil && a.given(args)) {
		if code == Trouble {
			a.Members["error"] = text
		}
		if err := a.print(stdout); err != nil {
			fmt.Fprintf(stderr, "idemgen: %v\n", err)
			return Trouble
		}
	}
	return code
}

// Root is the program's tree of commands: those given, version, help and completion.
func Root(stdout, stderr io.Writer, commands ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{
		Use:     "idemgen",
		Short:   "Apply every Kafka event to Postgres exactly once",
		Version: Version().String(),
		Long: `From a spec, idemgen generates Go code, SQL and tests that apply every Kafka event to Postgres
exactly once.

Exit codes: 0: done; 1: changes (check), a breaking change (plan) or a failed check (doctor); 2:
an error, whose message says what was done before it.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(wrongFlag)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.AddCommand(commands...)
	root.AddCommand(versionCommand())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range append(root.Commands(), root) {
		switch {
		case cmd.Name() == "help":
			cmd.Short, cmd.Long = "Print the help of a command", "Prints the help of a command."
			cmd.Run, cmd.RunE = nil, help
		case cmd.HasSubCommands():
			cmd.Args, cmd.RunE, cmd.SuggestionsMinimumDistance = knownCommand, missingCommand, 2
		}
	}
	return root
}

// help prints the help of a command; cobra's own ends well where there is none.
func help(cmd *cobra.Command, args []string) error {
	about, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return fmt.Errorf("no help on %q; idemgen help lists the commands", strings.Join(args, " "))
	}
	about.InitDefaultHelpFlag()
	about.InitDefaultVersionFlag()
	return about.Help()
}

// knownCommand refuses the argument of a command that only has commands below it.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q", args[0])
	if meant := cmd.SuggestionsFor(args[0]); len(meant) > 0 {
		text += fmt.Sprintf(" (did you mean %s?)", strings.Join(meant, " or "))
	}
	return errors.New(text)
}

// missingCommand prints the help of a command that only has commands below it.
func missingCommand(cmd *cobra.Command, _ []string) error {
	cmd.SetOut(cmd.ErrOrStderr())
	missing := fmt.Errorf("%s needs a command; its help lists them", cmd.CommandPath())
	return said{errors.Join(cmd.Help(), missing)}
}

// NoArguments refuses what is no flag.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%s takes only flags, not %q", cmd.Name(), args[0])
}
