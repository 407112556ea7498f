package main

import "github.com/spf13/cobra"

// commands are all commands. args are the arguments of the program.
func commands(args []string) []*cobra.Command {
	return []*cobra.Command{generateCommand(), checkCommand(), planCommand(), explainCommand(), initCommand(args), caseCommand(), fmtCommand(), devCommand(), doctorCommand(), consoleCommand(), adoptCommand(), streamCommand(), deadCommand(), findCommand(), outboxCommand()}
}
