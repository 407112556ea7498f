package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/here"
	"github.com/idemgen/idemgen/cmd/idemgen/internal/operators"
	"github.com/idemgen/idemgen/cmd/idemgen/internal/spec"
)

// commands are those of all rooms. args are the arguments of the program.
func commands(args []string) []*cobra.Command {
	return slices.Concat(spec.Commands(args), here.Commands(), operators.Commands())
}
