package handlers

import (
	"testing"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/cmd/idemgen/internal/spec"
)

func TestMain(m *testing.M) { commandtest.Main(m) }

// idemgen are the commands that tests run, and what they write and read.
var (
	idemgen                   = commandtest.Commands(spec.Commands)
	must                      = idemgen.Must
	module, write, read, edit = commandtest.Module, commandtest.Write, commandtest.Read, commandtest.Edit
)
