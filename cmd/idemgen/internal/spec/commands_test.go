package spec

import (
	"testing"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
)

func TestMain(m *testing.M) { commandtest.Main(m) }

const (
	done, different, trouble = command.Done, command.Different, command.Trouble
	spec, second             = commandtest.Spec, commandtest.Second
)

// idemgen are the commands that tests run, and what they write and read.
var (
	idemgen                   = commandtest.Commands(Commands)
	run, must, refused        = idemgen.Run, idemgen.Must, idemgen.Refused
	module, write, read, edit = commandtest.Module, commandtest.Write, commandtest.Read, commandtest.Edit
	compiles                  = commandtest.Compiles
)
