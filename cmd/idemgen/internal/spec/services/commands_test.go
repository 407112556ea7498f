package services

import (
	"testing"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/cmd/idemgen/internal/spec"
)

func TestMain(m *testing.M) { commandtest.Main(m) }

const done, second = command.Done, commandtest.Second

// idemgen are the commands that tests run, and what they write and read.
var (
	idemgen             = commandtest.Commands(spec.Commands)
	run, must           = idemgen.Run, idemgen.Must
	module, write, read = commandtest.Module, commandtest.Write, commandtest.Read
	compiles            = commandtest.Compiles
)
