package operators

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
)

func TestMain(m *testing.M) { commandtest.Main(m) }

const done, different, trouble = command.Done, command.Different, command.Trouble

// idemgen are the commands that tests run, and what they write and read.
var (
	idemgen            = commandtest.Commands(func([]string) []*cobra.Command { return Commands() })
	run, must, refused = idemgen.Run, idemgen.Must, idemgen.Refused
	module, read       = commandtest.Module, commandtest.Read
)

// fails runs a command that must end in trouble, and print its JSON.
func fails(t *testing.T, path, want string, args ...string) {
	t.Helper()
	members := map[string][]string{"dead replay": {"letters"}, "dead show": {}}
	idemgen.Fails(t, members[path], path, want, args...)
}
