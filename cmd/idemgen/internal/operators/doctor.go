package operators

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/cmd/idemgen/internal/doctor"
	"github.com/idemgen/idemgen/generator"
)

// errUnwell ends doctor with an exit code of its own.
var errUnwell = command.Differs(errors.New("something fails: see the lines that begin with FAIL"))

// doctorFlags say where to look.
type doctorFlags struct {
	group string
	streamFlags
	kafka           command.KafkaFlags
	redis, registry string
	json            *command.Answer
}

// doctorCommand looks at what is around a service.
func doctorCommand() *cobra.Command {
	var f doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor [spec | folder]",
		Short: "Check the database, the topics and the Redis of a service",
		Long: `Checks whether a service can run here, changes nothing, and prints a line for each check:

- whether the spec and the generated files are current;
- whether Postgres responds and has all migrations and rights, and the clocks agree;
- what the service's processes report about its partitions;
- whether the topics exist, whether they keep records for longer than keys are known, and
  whether the log fits the ledgers;
- which members the consumer group has;
- whether events wait in an outbox, and which relay leads;
- whether records of the schemas in a registry can be read;
- whether settings of Redis make it lose leases.

Below a line that is not ok, it prints what to do. The exit code is 1 if a check fails.

A server is skipped if neither a flag nor a variable names it: $DATABASE_URL, $KAFKA_BROKERS,
$REDIS_URL, $SCHEMA_REGISTRY_URL. For SASL, set the name and the password in $KAFKA_USERNAME and
$KAFKA_PASSWORD. Connect as the service does: the rights are then those of its role.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.examine(cmd, args) },
	}
	f.define(cmd)
	f.json = command.AsJSON(cmd, "checks")
	flags := cmd.Flags()
	f.kafka.Define(cmd)
	flags.StringVar(&f.group, "group", "", "consumer group, if idem.WithGroup gives it another name than the consumer's (default as the processes report)")
	flags.StringVar(&f.redis, "redis", "", "URL of the Redis that stores leases (default $REDIS_URL)")
	flags.StringVar(&f.registry, "registry", "", "URL of the schema registry (default $SCHEMA_REGISTRY_URL)")
	cmd.ValidArgsFunction = cobra.FixedCompletions([]string{"yaml"}, cobra.ShellCompDirectiveFilterFileExt)
	return cmd
}

func (f *doctorFlags) examine(cmd *cobra.Command, args []string) error {
	specs, err := command.FindSpecs(args)
	if err != nil {
		return err
	}
	if len(specs) != 1 {
		return errors.New("doctor looks at one service: name its spec")
	}
	checks, service, err := current(specs[0])
	if err != nil {
		return err
	}
	if service != nil {
		around, err := f.around(cmd.Context())
		if around.Database != nil {
			defer around.Database.Close()
		}
		if err != nil {
			return err
		}
		service.Group = f.group
		checks = append(checks, doctor.Examine(cmd.Context(), *service, around)...)
	}
	f.json.Members["checks"] = checks
	if !f.json.Wanted {
		wide := 0
		for _, c := range checks {
			wide = max(wide, len(c.About))
		}
		page, err := pages.Text("checks", map[string]any{"Wide": wide, "Checks": checks})
		fmt.Fprint(cmd.OutOrStdout(), page)
		if err != nil {
			return err
		}
	}
	for _, c := range checks {
		if c.State == doctor.Failure {
			return errUnwell
		}
	}
	return nil
}

// current checks the generated files, and says what the service needs; nothing of a spec that is
// not in order.
func current(spec generator.Spec) (checks []doctor.Check, _ *doctor.Service, err error) {
	result, err := generator.Generate([]generator.Spec{spec})
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, result.Close()) }()
	if result.Refused {
		return []doctor.Check{{State: doctor.Failure, About: "spec", Found: result.Summary, Advice: "run idemgen check " + spec.Path}}, nil, nil
	}
	check := doctor.Check{State: doctor.OK, About: "spec", Found: spec.Path + " is in order, and the generated files are current"}
	for _, c := range result.Changes {
		if c.Diff() != "" {
			check = doctor.Check{State: doctor.Failure, About: "spec", Found: "generated files differ from " + spec.Path, Advice: "run idemgen generate " + spec.Path}
		}
	}
	is := result.Needs()[0]
	service := &doctor.Service{Consumer: is.Consumer, Schema: is.Schema, Tables: is.Tables, Effects: is.Effects}
	for _, t := range is.Topics {
		topic := doctor.Topic{Name: t.Name, StartFrom: t.StartFrom, Window: t.Window, Fixed: t.Fixed}
		for _, s := range t.Schemas {
			topic.Schemas = append(topic.Schemas, doctor.Schema(s))
		}
		service.Topics = append(service.Topics, topic)
	}
	return []doctor.Check{check}, service, nil
}

// around is where to look.
func (f *doctorFlags) around(ctx context.Context) (a doctor.Around, err error) {
	a.Waits = new(doctor.Waits)
	if a.Kafka, err = f.kafka.Options(); err != nil {
		return a, err
	}
	a.Registry = cmp.Or(f.registry, os.Getenv("SCHEMA_REGISTRY_URL"))
	a.Redis = cmp.Or(f.redis, os.Getenv("REDIS_URL"))
	if f.database != "" || os.Getenv("DATABASE_URL") != "" {
		a.Database, a.NoAnswer = command.OpenPool(ctx, "--database", f.database, pgconn.ValidateConnectTargetSessionAttrsReadWrite, a.Waits.Found, nil)
	}
	return a, nil
}
