package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
)

// Exit codes.
const (
	done      = 0
	different = 1 // check only
	trouble   = 2
)

// call is one call of the command: a verb's arguments and where its output goes. Data goes
// to stdout, prose to stderr.
type call struct {
	args           []string
	given          []string // all arguments, as they were given
	stdin          io.Reader
	stdout, stderr io.Writer
}

type verb struct {
	name, short string
	run         func(ctx context.Context, c *call) int
}

func verbs() []verb {
	return []verb{
		{"generate", "write what the specs ask for", generate},
		{"check", "print what generate would change", check},
		{"init", "write a first spec and the files around it", initialize},
		{"stream", "show and mend the ledgers in a database", streams},
		{"version", "print the version", version},
		{"help", "print this text, or that of a command", help},
	}
}

// Run runs the command with its arguments, without the program's name, and returns the
// exit code: 0 done, 1 different (check), 2 trouble.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := &call{given: args, stdin: stdin, stdout: stdout, stderr: stderr}
	if len(args) == 0 {
		fmt.Fprint(stderr, overview())
		return trouble
	}
	name := args[0]
	if name == "-h" || name == "-help" || name == "--help" {
		name = "help"
	}
	c.args = args[1:]
	for _, v := range verbs() {
		if v.name == name {
			return v.run(ctx, c)
		}
	}
	return c.fail(fmt.Errorf("unknown command %q; idemgen help lists them", args[0]))
}

// parse parses the flags of a verb, which may stand anywhere among the arguments, and
// returns the other arguments. If ok is false, code is the exit code.
func (c *call) parse(verb string, define func(*flag.FlagSet)) (rest []string, code int, ok bool) {
	flags := flag.NewFlagSet(verb, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	if define != nil {
		define(flags)
	}
	for args := c.args; ; {
		switch err := flags.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			fmt.Fprint(c.stdout, helpText(verb))
			return nil, done, false
		case err != nil:
			return nil, c.fail(fmt.Errorf("%s: %w; see idemgen help %s", verb, err, verb)), false
		}
		if flags.NArg() == 0 {
			return rest, done, true
		}
		rest = append(rest, flags.Arg(0))
		args = flags.Args()[1:]
	}
}

// fail prints err, one line per joined error, and returns the exit code.
func (c *call) fail(err error) int {
	fmt.Fprintf(c.stderr, "idemgen: %s\n", c.mask(err.Error()))
	return trouble
}
