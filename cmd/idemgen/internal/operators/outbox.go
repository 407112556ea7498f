package operators

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/internal/gen/connector"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// outboxCommand holds the commands about the table of events that a service sends.
func outboxCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "outbox",
		Short: "Set up an outbox",
		Long:  "Sets up the sending of events from the table idem_outbox, into which package runtime/outbox writes.",
	}
	cmd.AddCommand(outboxMigrationCommand(), connectorCommand())
	noCompletions(cmd)
	return cmd
}

// outboxMigrationCommand prints the SQL of the outbox.
func outboxMigrationCommand() *cobra.Command {
	var debezium, letters bool
	cmd := &cobra.Command{
		Use:   "migration",
		Short: "Print the SQL that creates idem_outbox",
		Long: `Prints the SQL that creates the table idem_outbox, for a file among your migrations. It is that
of outbox.Migration; with --dead-letters, that of outbox.DeadLetterMigration follows. Apply it
after the migrations of idemgen's runtime. It may be applied repeatedly.`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			by := outbox.ByRelay
			if debezium {
				by = outbox.ByDebezium
			}
			text := outbox.Migration(by)
			if letters {
				text += outbox.DeadLetterMigration()
			}
			_, err := io.WriteString(cmd.OutOrStdout(), text)
			return err
		},
	}
	cmd.Flags().BoolVar(&debezium, "debezium", false, "Debezium sends the events, instead of a relay")
	cmd.Flags().BoolVar(&letters, "dead-letters", false, "the relay also sends dead letters")
	cmd.MarkFlagsMutuallyExclusive("debezium", "dead-letters")
	return cmd
}

// connectorCommand prints the configuration of Debezium's connector.
func connectorCommand() *cobra.Command {
	var of connector.Connector
	var wrapped bool
	cmd := &cobra.Command{
		Use:   "connector --host H --dbname D --user U",
		Short: "Print the configuration of Debezium's connector for idem_outbox",
		Long: `Prints the settings of Debezium's connector for Postgres, as one JSON object, for PUT
/connectors/NAME/config of Kafka Connect. With --wrapped, the object also has the connector's
name, for POST /connectors. The table is the one of outbox.Migration(outbox.ByDebezium). Records
then look like those that the relay sends. docs/outbox.md describes each setting.

The password is never included: --password names the place where Connect finds it. The default,
${env:IDEM_OUTBOX_PASSWORD}, needs config.providers=env and
config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider in the
settings of the worker.`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := of.JSON(wrapped)
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&of.Host, "host", "", "host of the database")
	f.IntVar(&of.Port, "port", 5432, "port of the database")
	f.StringVar(&of.User, "user", "", "role with LOGIN and REPLICATION")
	f.StringVar(&of.Database, "dbname", "", "name of the database")
	f.StringVar(&of.Password, "password", "${env:IDEM_OUTBOX_PASSWORD}", "place where Connect finds the password")
	f.StringVar(&of.Schema, "schema", "public", "schema of the table")
	f.StringVar(&of.Name, "name", "idem-outbox", "name of the connector")
	f.StringVar(&of.Slot, "slot", "idem_outbox", "replication slot, used only by the connector")
	f.StringVar(&of.Publication, "publication", "idem_outbox", "publication that outbox.Migration created")
	f.StringVar(&of.Prefix, "topic-prefix", "", "prefix of the heartbeat topic, __debezium-heartbeat.PREFIX (default the name)")
	f.StringVar(&of.Topic, "topic", "outbox.event.${routedByValue}", "topic of an event; ${routedByValue} is its aggregate type")
	f.StringArrayVar(&of.Headers, "header", nil, "further column of the table that is a header; give it once for each")
	f.BoolVar(&wrapped, "wrapped", false, "print it for POST /connectors, with the connector's name")
	command.Require(cmd, "host", "dbname", "user")
	return cmd
}
