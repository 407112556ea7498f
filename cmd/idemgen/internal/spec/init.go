package spec

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/generator"
)

// initCommand writes a first spec and what it needs. args are all arguments: the names among
// them stand in problems of the spec.
func initCommand(args []string) *cobra.Command {
	start := generator.Start{Dir: "."}
	var machine *command.Answer
	var from fromDatabase
	var topic fromTopic
	cmd := &cobra.Command{
		Use:   "init [folder]",
		Short: "Write a first spec and the files around it",
		Long: `Writes a first spec, and the files that it needs to run, into a folder of a Go module (default:
here): idemgen.yaml, gen.go, handler.go, cmd/<consumer>/main.go, the set-up of the tests, a
first case in testdata/cases and .gitattributes. Then it generates. It never replaces a file.
The names default to the folder's import path. If the folder already has an idemgen.yaml, init
uses it and writes only the missing files.

With --from-db, the spec describes existing tables of a database: all of them, or those of
--table. Without an address, --from-db uses $DATABASE_URL.

With --from-topic, the newest records of that topic are read, without a consumer group. Their
structure is printed without any of their values or keys, and the spec stores each event as a
row. For SASL, set the name and the password in $KAFKA_USERNAME and $KAFKA_PASSWORD.`,
		Args:              func(cmd *cobra.Command, args []string) error { return oneFolder(cmd, from.without(args)) },
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: func(cmd *cobra.Command, folder []string) error {
			if folder = from.take(folder); len(folder) > 0 {
				start.Dir = folder[0]
			}
			if from.given && topic.name != "" {
				return errors.New("--from-db and --from-topic exclude each other: a first spec describes one of them")
			}
			if from.given {
				var err error
				if start.Tables, err = from.read(cmd.Context(), cmd.ErrOrStderr()); err != nil {
					return err
				}
				if _, err := os.Stat(filepath.Join(start.Dir, generator.SpecFile)); err == nil {
					fmt.Fprint(cmd.OutOrStdout(), generator.Describe(start.Tables))
					return fmt.Errorf("%s exists, and is not changed: the section for the tables is on stdout", filepath.ToSlash(filepath.Join(start.Dir, generator.SpecFile)))
				}
			}
			if topic.name != "" {
				if err := topic.examine(cmd, &start, machine); err != nil {
					return err
				}
			}
			started, err := generator.Init(start)
			if err != nil {
				return err
			}
			defer started.Close()
			machine.Members["diagnostics"] = append([]generator.Diagnostic{}, started.Diagnostics...)
			if !machine.Wanted {
				fmt.Fprint(cmd.ErrOrStderr(), command.Mask(started.Problems, args), lastLine(started.Summary, true))
			}
			if started.Refused { // the spec that was there
				return errProblems
			}
			if err := started.Apply(); err != nil {
				return err
			}
			tell(cmd, machine, started.Result)
			if started.Kept {
				fmt.Fprint(cmd.ErrOrStderr(), started.Notes)
			}
			steps, err := pages.Text("next steps", started)
			fmt.Fprint(cmd.ErrOrStderr(), steps)
			return err
		},
	}
	machine = command.AsJSON(cmd, "diagnostics", "changes")
	cmd.Flags().StringVar(&start.Consumer, "consumer", "", "name of the consumer")
	cmd.Flags().StringVar(&start.Package, "package", "", "name of the Go package")
	cmd.Flags().StringVar(&start.Client, "client", generator.Clients[0], "the program's Kafka `client`: confluent (librdkafka), or franz (franz-go), which builds without cgo")
	_ = cmd.RegisterFlagCompletionFunc("client", cobra.FixedCompletions(generator.Clients, cobra.ShellCompDirectiveNoFileComp))
	from.define(cmd, "from-db", "describe the tables of this database in the spec")
	topic.define(cmd)
	cmd.Flags().StringArrayVar(&from.tables, "table", nil, "with --from-db: a table, as schema.table; may be repeated")
	return cmd
}

// oneFolder refuses a second folder.
func oneFolder(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("init takes one folder, and %q is a second one", args[1])
	}
	return nil
}
