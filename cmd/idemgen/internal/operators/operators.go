// Package operators has the commands about a running service, for those who operate it: stream,
// dead and find show and change what its database holds, doctor and console show how all of it is,
// adopt and outbox set it up. They read flags and print; packages operate and doctor do the work.
//
// It must not import any package of this module but command, connector, doctor, generator,
// internal/operate, runtime/console, runtime/halt, runtime/idem, runtime/outbox, syntax and view.
package operators

import "github.com/spf13/cobra"

// Commands are the commands of this package.
func Commands() []*cobra.Command {
	return []*cobra.Command{doctorCommand(), consoleCommand(), adoptCommand(), streamCommand(), deadCommand(), findCommand(), outboxCommand()}
}
