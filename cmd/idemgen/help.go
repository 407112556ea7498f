package main

import (
	"context"
	"fmt"
	"strings"
)

// help prints the overview, or the text of one command.
func help(_ context.Context, c *call) int {
	switch {
	case len(c.args) == 0:
		fmt.Fprint(c.stdout, overview())
	case helpText(strings.Join(c.args, " ")) == "":
		return c.fail(fmt.Errorf("no help on %q; idemgen help lists the commands", strings.Join(c.args, " ")))
	default:
		fmt.Fprint(c.stdout, helpText(strings.Join(c.args, " ")))
	}
	return done
}

func overview() string {
	var b strings.Builder
	b.WriteString("idemgen applies every Kafka event to Postgres exactly once: from a spec to Go, SQL and tests.\n\nusage: idemgen <command> [arguments]\n\n")
	for _, v := range verbs() {
		fmt.Fprintf(&b, "  %-9s %s\n", v.name, v.short)
	}
	b.WriteString("\nexit codes: 0 done, 1 different (check only), 2 trouble: nothing was written\n")
	return b.String()
}

const specArguments = `
A spec is named by its file or its folder (idemgen.yaml in it); dir/... stands for every
idemgen.yaml in dir and below, but for folders named vendor, testdata or node_modules, those
whose names begin with . or _, and other Go modules. Without arguments: idemgen.yaml here.

  -strict   warnings count as errors
`

// helpText returns the text of one command, as of "stream skip", "" if there is no such command.
func helpText(verb string) string {
	switch verb {
	case "generate":
		return `usage: idemgen generate [-strict] [spec | folder | dir/...] ...

Writes the Go code, tests, migrations and idem.state.yaml of each spec, and prints a line per
file that changed. Nothing is written unless every spec is in order. Files of your own are
never touched.
` + specArguments
	case "check":
		return `usage: idemgen check [-strict] [spec | folder | dir/...] ...

Prints what generate would change, as a unified diff, and writes nothing. Exit code 0: nothing
would change; 1: something would; 2: trouble. Starter files, which are yours, do not count.
` + specArguments
	case "init":
		return `usage: idemgen init [-consumer name] [-package name] [folder]

Writes a first spec and what it needs to run into a folder (default: here) of a Go module:
idemgen.yaml, gen.go, handler.go, cmd/<consumer>/main.go, the set-up of the tests and
.gitattributes, then generates. Refuses to replace a file. The names default to the
folder's import path.
`
	case "stream":
		return streamHelp("")
	case "version":
		return "usage: idemgen version\n\nPrints the version of idemgen.\n"
	case "help":
		return "usage: idemgen help [command | stream command]\n"
	}
	if of, ok := strings.CutPrefix(verb, "stream "); ok {
		return streamHelp(of)
	}
	return ""
}
