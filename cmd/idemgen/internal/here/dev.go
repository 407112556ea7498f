// Package here has the command that runs a service on this machine, dev. It reads flags and the
// spec, and prints; package dev does the work.
//
// It must not import any package of this module but command, dev, generator, runtime/console,
// runtime/idem, runtime/idemtest and testmessages.
package here

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/cmd/idemgen/internal/dev"
	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/runtime/console"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	_ "github.com/idemgen/idemgen/runtime/idemtest/testmessages" // cases of topics with schemas
)

// Commands are the commands of this package.
func Commands() []*cobra.Command { return []*cobra.Command{devCommand()} }

// devCommand runs a service on this machine.
func devCommand() *cobra.Command {
	var o dev.Options
	program := ""
	cmd := &cobra.Command{
		Use:   "dev [spec | folder]",
		Short: "Run the service here, with its own Postgres and broker",
		Long: `Starts Postgres and a Kafka broker, applies the migrations, builds the service's program and
runs it with your handlers. It plays each case on an empty database: first its rows, then its
records, some of them twice. It then compares the tables with the case's then. If effects are
called, nothing is compared, because a case states the results of calls, but here your own
methods are called. For events without a case it sends records of the generated tests, whose
values are made up: Go code may reject them. External tables (external: true) are created from
the spec.

After a change of a .go, .yaml, .sql, .proto or .avsc file it generates, builds, and starts from
the beginning. With --keep, the database and the log are kept, and new migrations are applied to
them.

The program gets KAFKA_BROKERS, DATABASE_URL, HTTP_ADDR and LOG_LEVEL=debug, which the main of
idemgen init reads. At that level the log has a line for each event, with its outcome. A program
that imports redislease also gets REDIS_URL. A program whose records have their schemas in a
registry also gets SCHEMA_REGISTRY_URL, of a registry that has the schemas of the spec.

dev serves the pages of idemgen console with the spec as it was at the start, and prints their
address. It prints each record that the service sends, and creates the topics for them. If the
database has an outbox and the program links no producer of a relay, dev sends the outbox's
events.

With --database and --brokers it uses your own servers unchanged: apply the migrations, create
the topics and send the records yourself.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			specs, err := command.FindSpecs(args)
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
	flags.StringVar(&program, "program", "", "`package` of the program (default: the only one that imports the spec's package)")
	flags.StringVar(&o.Database, "database", "", "`URL` of a database to use, with its migrations applied")
	flags.StringVar(&o.Brokers, "brokers", "", "`addresses` of brokers to use, host:port,host:port")
	flags.Int32Var(&o.Partitions, "partitions", 3, "`number` of partitions of each topic")
	flags.BoolVar(&o.Keep, "keep", false, "keep the rows and the log after a change, as long as no applied migration and no topic changes")
	flags.DurationVar(&o.Pause, "pause", 500*time.Millisecond, "`time` between two records; 0 sends none")
	cmd.ValidArgsFunction = cobra.FixedCompletions([]string{"yaml"}, cobra.ShellCompDirectiveFilterFileExt)
	return cmd
}

const mostPartitions = 1000

func runDev(cmd *cobra.Command, spec generator.Spec, program string, o dev.Options) error {
	switch {
	case o.Partitions < 1 || o.Partitions > mostPartitions:
		return fmt.Errorf("--partitions must be 1 to %d", mostPartitions)
	case o.Pause < 0:
		return errors.New("--pause must not be negative")
	case o.Database != "" && o.Brokers == "":
		return errors.New("--database also needs --brokers HOST:PORT, the broker of the topics: the database holds positions in its logs. Without both, dev starts its own")
	case o.Brokers != "" && o.Database == "":
		return errors.New("--brokers also needs --database URL, the database of the rows: it holds the positions in the broker's logs. Without both, dev starts its own")
	}
	o.Out = cmd.OutOrStdout()
	o.Pages = func(ctx context.Context, database string) (string, error) {
		site, err := console.Local(ctx, "127.0.0.1:0", console.User{Name: os.Getenv("USER"), Act: true, Payload: true}, console.Options{
			Database: database, Operator: database, Specs: []fs.FS{command.SpecFolder(spec.Path)}, Environment: "dev", Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			return "", err
		}
		return site.URL, nil
	}
	return dev.Run(cmd.Context(), dev.Service{
		Dir: filepath.Dir(filepath.FromSlash(spec.Path)), Program: program,
		Generate: func(context.Context) (dev.Parts, error) { return generateAgain(cmd, spec.Path) },
	}, o)
}

// generateAgain generates what the spec asks for, as it is now, and names what it wrote.
func generateAgain(cmd *cobra.Command, path string) (parts dev.Parts, err error) {
	specs, err := command.FindSpecs([]string{path})
	if err != nil {
		return parts, err
	}
	result, err := generator.Generate(specs)
	if err != nil {
		return parts, err
	}
	defer func() { err = errors.Join(err, result.Close()) }()
	fmt.Fprint(cmd.ErrOrStderr(), result.Problems)
	if result.Refused {
		return parts, errors.New("the spec has the problems above")
	}
	if err := result.Apply(); err != nil {
		return parts, err
	}
	for _, c := range result.Changes {
		fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", c.Op, c.Path)
	}
	local, err := generator.LocalOf(specs[0])
	if err != nil {
		return parts, err
	}
	parts.Migrations = local.Migrations
	for _, t := range local.Topics {
		topic := dev.Topic{Names: t.Names}
		for _, s := range t.Schemas {
			topic.Schemas = append(topic.Schemas, dev.Schema{Of: s.Of, Text: s.Text, Number: s.Number})
		}
		parts.Topics = append(parts.Topics, topic)
	}
	tests := idemtest.Service{Spec: specs[0].Path, Digest: local.Digest}
	for _, s := range local.Samples {
		parts.Samples = append(parts.Samples, sampleOf(tests, s))
	}
	return parts, nil
}

// sampleOf is a sample as dev sends it.
func sampleOf(tests idemtest.Service, s generator.Sample) dev.Sample {
	out := dev.Sample{Name: s.Name, Rows: s.Rows, InOrder: s.Case != ""}
	if s.Then {
		out.Check = func(ctx context.Context, database string, relayed bool) (string, error) {
			db, err := pgxpool.New(ctx, database)
			if err != nil {
				return "", err
			}
			defer db.Close()
			var without []string
			if relayed {
				without = s.Outbox
			}
			return tests.CompareCase(ctx, db, s.Case, without...)
		}
	}
	for _, r := range s.Records {
		m := idem.Message{Topic: r.Topic, Time: r.Time, Key: r.Key, Value: r.Value}
		for _, h := range r.Headers {
			m.Headers = append(m.Headers, idem.Header(h))
		}
		out.Records = append(out.Records, dev.Record{Event: r.Event, Message: m, Again: s.Again && r.Keyed})
	}
	return out
}
