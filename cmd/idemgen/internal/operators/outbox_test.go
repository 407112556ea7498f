package operators

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// The SQL is what the package applies.
func TestOutboxMigration(t *testing.T) {
	for flags, want := range map[string]string{
		"": outbox.Migration(outbox.ByRelay), "--debezium": outbox.Migration(outbox.ByDebezium),
		"--dead-letters": outbox.Migration(outbox.ByRelay) + outbox.DeadLetterMigration(),
	} {
		if text := must(t, append([]string{"outbox", "migration"}, strings.Fields(flags)...)...); text != want {
			t.Errorf("%s: %s", flags, text)
		}
	}
	refused(t, "[dead-letters debezium] were all set", "outbox", "migration", "--debezium", "--dead-letters")
}

// The configuration goes to stdout, without a password.
func TestOutboxConnector(t *testing.T) {
	args := []string{"outbox", "connector", "--host", "db", "--dbname", "shop", "--user", "debezium", "--header", "tenant"}
	text := must(t, args...)
	var settings map[string]string
	commandtest.Parse(t, text, &settings)
	if settings["database.password"] != "${env:IDEM_OUTBOX_PASSWORD}" || !strings.HasSuffix(settings["transforms.outbox.table.fields.additional.placement"], ",tenant:header") {
		t.Error(text)
	}
	var wrapped struct {
		Name   string
		Config map[string]string
	}
	commandtest.Parse(t, must(t, append(args, "--wrapped", "--name", "shop")...), &wrapped)
	if wrapped.Name != "shop" || wrapped.Config["topic.prefix"] != "shop" {
		t.Errorf("%+v", wrapped)
	}
	refused(t, "missing: --dbname, --user; usage: idemgen outbox connector --host H --dbname D --user U; see idemgen help outbox connector", args[:4]...)
	refused(t, "the password must not be in the configuration", append(args, "--password", "secret")...)
	refused(t, "connector   Print the configuration", "outbox")
}
