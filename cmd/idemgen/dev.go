package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/dev"
	"github.com/idemgen/idemgen/generator"
)

// devCommand runs a service on this machine.
func devCommand() *cobra.Command {
	var o dev.Options
	program := ""
	cmd := &cobra.Command{
		Use:   "dev [spec | folder]",
		Short: "Run the service here, with a Postgres and a broker of its own",
		Long: `Starts Postgres and a Kafka broker, applies the migrations, builds the service's program and runs
it with your handlers, and sends it the records of your cases, each after its rows, and of the
generated tests, some of them twice. Tables of others (external: true) are made as the spec says.
After a change of a .go, .yaml or .sql file it generates, builds and runs the program again. It
prints the addresses for psql and Kafka tools. Both servers and their data are gone when it ends.

The program is given KAFKA_BROKERS, DATABASE_URL, HTTP_ADDR and LOG_LEVEL=debug, as the main that
idemgen init writes takes them: at that level the log has a line for each event, with its outcome.

With --database-url or --brokers it uses servers of yours: then the topics, or the migrations and
the records, are yours, too.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			specs, err := findSpecs(args)
			if err != nil {
				return err
			}
			if len(specs) != 1 {
				return errors.New("dev runs one service: name its spec")
			}
			return runDev(cmd, specs[0], program, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&program, "program", "", "`package` of the program; by default the only one that imports the spec's package")
	flags.StringVar(&o.Database, "database-url", "", "`URL` of a database to use, with its migrations applied")
	flags.StringVar(&o.Brokers, "brokers", "", "`addresses` of brokers to use, host:port,host:port")
	flags.Int32Var(&o.Partitions, "partitions", 3, "`number` of partitions of each topic")
	flags.DurationVar(&o.Pause, "pause", 500*time.Millisecond, "`time` between two records that are sent; 0 sends none")
	cmd.ValidArgsFunction = cobra.FixedCompletions([]string{"yaml"}, cobra.ShellCompDirectiveFilterFileExt)
	return cmd
}

func runDev(cmd *cobra.Command, spec generator.Spec, program string, o dev.Options) error {
	if o.Partitions < 1 || o.Pause < 0 {
		return errors.New("--partitions is at least 1, and --pause is not negative")
	}
	local, err := generator.LocalOf(spec)
	if err != nil {
		return err
	}
	s := dev.Service{
		Dir: filepath.Dir(filepath.FromSlash(spec.Path)), Consumer: local.Consumer, Migrations: local.Migrations, Program: program,
		Generate: func(ctx context.Context) error { return generateAgain(ctx, cmd, spec.Path) },
	}
	for _, t := range local.Topics {
		s.Topics = append(s.Topics, dev.Topic{Names: t.Names, Log: t.Log})
	}
	o.Out = cmd.OutOrStdout()
	return dev.Run(cmd.Context(), s, o)
}

// generateAgain generates what the spec asks for, as it is now, and names what it wrote.
func generateAgain(ctx context.Context, cmd *cobra.Command, path string) (err error) {
	specs, err := findSpecs([]string{path})
	if err != nil {
		return err
	}
	result, err := generator.Generate(ctx, specs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, result.Close()) }()
	fmt.Fprint(cmd.ErrOrStderr(), result.Problems)
	if result.Refused {
		return errProblems
	}
	if err := result.Apply(); err != nil {
		return err
	}
	for _, c := range result.Changes {
		fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", c.Op, c.Path)
	}
	return nil
}
