package main

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
	done      = 0
	different = 1 // check and plan
	trouble   = 2
)

// errDifferent ends check with its own exit code.
var errDifferent = errors.New("generated files differ from the spec: run idemgen generate")

// said is an error that stands on stderr already.
type said struct{ error }

// Run runs the command with its arguments, without the program's name, and returns the
// exit code: 0 done, 1 different (check, fmt), breaks (plan) or fails (doctor), 2 trouble. Data
// goes to stdout, prose to stderr.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	stdout, stderr = printable{stdout}, printable{stderr}
	root := rootCommand(args, stdout, stderr)
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
	code := done
	switch {
	case errors.Is(err, errDifferent), errors.Is(err, errLayout), errors.Is(err, errBreaks), errors.Is(err, errUnwell):
		code = different
	case err != nil:
		code = trouble
	}
	text := ""
	if err != nil {
		text = mask(err.Error(), args)
	}
	if _, twice := errors.AsType[said](err); err != nil && !twice {
		fmt.Fprintf(stderr, "idemgen: %s\n", text)
	}
	if a := answerOf(cmd); a != nil && (running && a.wanted || !running && err != nil && a.given(args)) {
		if code == trouble {
			a.members["error"] = text
		}
		if err := a.print(stdout); err != nil {
			fmt.Fprintf(stderr, "idemgen: %v\n", err)
			return trouble
		}
	}
	return code
}

// rootCommand is the program's tree of commands. args are all arguments, to mask them.
func rootCommand(args []string, stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:     "idemgen",
		Short:   "Apply every Kafka event to Postgres exactly once",
		Version: version().String(),
		Long: `idemgen applies every Kafka event to Postgres exactly once: from a spec to Go, SQL and tests.

Exit codes: 0 done, 1 different (check, fmt) or breaks (plan), 2 trouble; the message says what was done before it.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(wrongFlag)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.AddCommand(generateCommand(), checkCommand(), planCommand(), explainCommand(), initCommand(args), caseCommand(), fmtCommand(), devCommand(), doctorCommand(), consoleCommand(), adoptCommand(), streamCommand(), deadCommand(), findCommand(), outboxCommand(), versionCommand())
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

// noArguments refuses what is no flag.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%s takes only flags, not %q", cmd.Name(), args[0])
}
