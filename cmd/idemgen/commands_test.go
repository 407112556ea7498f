package main

import (
	"testing"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
)

func TestMain(m *testing.M) { commandtest.Main(m) }

const done, trouble = command.Done, command.Trouble

// idemgen are the commands that tests run, and what they write and read.
var (
	idemgen             = commandtest.Commands(commands)
	run, must, refused  = idemgen.Run, idemgen.Must, idemgen.Refused
	module, write, read = commandtest.Module, commandtest.Write, commandtest.Read
)
