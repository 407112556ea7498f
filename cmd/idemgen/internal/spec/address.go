package spec

import (
	"strings"

	"github.com/spf13/cobra"
)

// fromEnvironment is what a flag holds that names no address.
const fromEnvironment = "$DATABASE_URL"

// address is the value of a flag that says: with this database. The address may be missing; then
// it is in the environment. It may also stand behind the flag as a word of its own, which the
// flags of a command cannot tell from an argument.
type address struct {
	given bool
	url   string // "" = of the environment
}

func (a *address) String() string { return "" }
func (a *address) Type() string   { return "DSN" }

func (a *address) Set(text string) error {
	a.given = true
	if text != fromEnvironment {
		a.url = text
	}
	return nil
}

// define adds the flag to a command.
func (a *address) define(cmd *cobra.Command, name, usage string) {
	cmd.Flags().VarPF(a, name, "", usage).NoOptDefVal = fromEnvironment
}

// take takes the address out of arguments.
func (a *address) take(args []string) (rest []string) {
	for _, arg := range args {
		if a.given && a.url == "" && isAddress(arg) {
			a.url = arg
			continue
		}
		rest = append(rest, arg)
	}
	return rest
}

// without are arguments without an address, which stays where it is.
func (a *address) without(args []string) []string {
	look := *a
	return look.take(args)
}

// isAddress reports whether an argument is no file but a database's address.
func isAddress(arg string) bool {
	return strings.HasPrefix(arg, "postgres://") || strings.HasPrefix(arg, "postgresql://") ||
		strings.Contains(arg, "host=") || strings.Contains(arg, "dbname=")
}
