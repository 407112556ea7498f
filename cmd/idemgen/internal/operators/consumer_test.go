package operators

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// Every command that works on ledgers or dead letters names the consumer by the same flag, which
// may be left out.
func TestConsumerIsNamedInOneWay(t *testing.T) {
	seen := 0
	idemgen.Every(func(cmd *cobra.Command) {
		if strings.Contains(cmd.Use, "CONSUMER") {
			t.Errorf("%s takes the consumer as an argument", cmd.CommandPath())
		}
		if cmd.Parent() != nil && cmd.Parent().Name() == "outbox" {
			return // they work on no ledger
		}
		topic := strings.Contains(cmd.Use, "TOPIC") || cmd.Flags().Lookup("topic") != nil
		flag := cmd.Flags().Lookup("consumer")
		switch {
		case !topic:
		case flag == nil:
			t.Errorf("%s has no --consumer", cmd.CommandPath())
		case len(flag.Annotations[cobra.BashCompOneRequiredFlag]) > 0:
			t.Errorf("%s requires --consumer", cmd.CommandPath())
		default:
			seen++
		}
	})
	if seen < 7 {
		t.Errorf("%d commands", seen)
	}
}

// Without --consumer the only one with a ledger of the topic is meant; of several, one must be
// named.
func TestConsumerThatIsNotNamed(t *testing.T) {
	db := shop(t)
	commands := []string{
		"dead show orders.v1 0:3", "dead replay orders.v1 0:3 --reason x --dry-run", "dead discard orders.v1 --all --reason x --dry-run",
		"find orders.v1 --offset 0:3", "stream release --topic orders.v1 --all --reason x --dry-run",
		"stream set --topic orders.v1 --partition 0 --to 9 --reason x --dry-run",
	}
	for _, command := range commands {
		if out := must(t, strings.Fields(command)...); !strings.Contains(out, "order-projector") {
			t.Errorf("%s: %s", command, out)
		}
	}
	idemtest.Exec(t, db, `INSERT INTO idem_stream (consumer, topic, topic_id, partition) SELECT 'other', topic, topic_id, partition FROM idem_stream`)
	for _, command := range commands {
		refused(t, "several consumers have a ledger of orders.v1: name one with --consumer: order-projector, other", strings.Fields(command)...)
		if out := must(t, strings.Fields(command+" --consumer order-projector")...); !strings.Contains(out, "order-projector") {
			t.Errorf("%s: %s", command, out)
		}
	}
}
