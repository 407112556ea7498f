package here

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/cmd/idemgen/internal/dev"
	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/internal/proof/seedlog"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// A flag out of its range is refused before anything starts.
func TestDevRefusesFlagsOutOfRange(t *testing.T) {
	const database, partitions, pause = "--database also needs --brokers", "--partitions must be 1 to 1000", "--pause must not be negative"
	for _, c := range []struct{ flag, want string }{
		{"--partitions=0", partitions}, {"--partitions=1001", partitions}, {"--pause=-1ns", pause},
		{"--partitions=1", database}, {"--partitions=1000", database}, {"--pause=0", database},
	} {
		out := &watched{}
		code := command.Run(t.Context(), []string{"dev", "../../../../examples/orders", "--database", "x", c.flag}, out, out, Commands()...)
		if code != command.Trouble || !strings.Contains(out.String(), "idemgen: "+c.want) {
			t.Errorf("%s: exit code %d, want %q\n%s", c.flag, code, c.want, out)
		}
	}
	out := &watched{}
	if code := command.Run(t.Context(), []string{"dev", "../../../../examples/..."}, out, out, Commands()...); code != command.Trouble || !strings.Contains(out.String(), "dev runs one service: name its spec") {
		t.Errorf("several specs: exit code %d\n%s", code, out)
	}
}

// What dev runs follows the spec: it generates, names what it wrote once, and has the topics and
// the samples. A case is played in order, and what it leaves is compared, without what a relay
// deletes.
func TestDevFollowsTheSpec(t *testing.T) {
	spec := documentedOutbox(t)
	commandtest.Module(t, map[string]string{"idemgen.yaml": spec})
	commandtest.Write(t, "testdata/cases/created.yaml", `description: A person is listed.
events:
  - {topic: users.v1, key: "k1", headers: {type: UserCreated, id: "1"}, value: {name: "Ada"}}
then: {idem_outbox: [{aggregatetype: person, type: PersonListed}]}
`)
	generate := func() (parts dev.Parts, out, problems string, err error) {
		var cmd cobra.Command
		var stdout, stderr watched
		cmd.SetOut(&stdout)
		cmd.SetErr(&stderr)
		parts, err = generateAgain(&cmd, "idemgen.yaml")
		return parts, stdout.String(), stderr.String(), err
	}
	parts, out, problems, err := generate()
	if err != nil || problems != "" || !strings.Contains(out, "create idem_gen.go\n") || !strings.Contains(out, "create migrations/") {
		t.Fatalf("%v\n%s%s", err, out, problems)
	}
	var got []string
	for _, s := range parts.Samples {
		got = append(got, fmt.Sprint(s.Name, " ", s.InOrder, " ", s.Check != nil, " ", len(s.Records) > 0))
	}
	want := "[{[users.v1] []}] migrations [case created true true true]"
	if is := fmt.Sprint(parts.Topics, " ", parts.Migrations, " ", got); is != want {
		t.Errorf("got %s, want %s", is, want)
	}
	m := parts.Samples[0].Records[0]
	if is := fmt.Sprintf("%s %s %s %s %s %v", m.Event, m.Message.Topic, m.Message.Key, m.Message.Value, m.Message.Headers, m.Again); is != `UserCreated users.v1 k1 {"name":"Ada"} [{type UserCreated} {id 1}] true` {
		t.Errorf("the record is %s", is)
	}
	if _, out, _, err = generate(); out != "" || err != nil {
		t.Errorf("a second time: %v\n%s", err, out)
	}
	db := idemtest.DB(t)
	idemtest.Exec(t, db, commandtest.Read(t, "testdata/idem_external.sql"))
	idemtest.Migrate(t, db, "migrations")
	for relayed, want := range map[bool]string{false: "idem_outbox", true: ""} {
		differences, err := parts.Samples[0].Check(t.Context(), db.Config().ConnString(), relayed)
		if err != nil || !strings.HasPrefix(differences, want) || want == "" && differences != "" {
			t.Errorf("relayed %v: %q, %v", relayed, differences, err)
		}
	}
	commandtest.Edit(t, "idemgen.yaml", "consumer: people", "consumer: People")
	if _, out, problems, err = generate(); err == nil || err.Error() != "the spec has the problems above" || out != "" || !strings.Contains(problems, "idemgen.yaml:2:") {
		t.Errorf("a mistake: %v\n%s%s", err, out, problems)
	}
}

// A record is sent again only if its sample says so and it has a key.
func TestSamplesAreSentAgain(t *testing.T) {
	for _, c := range []struct{ again, keyed, want bool }{{true, true, true}, {true, false, false}, {false, true, false}} {
		s := generator.Sample{Name: "n", Rows: "r", Again: c.again}
		s.Records = append(s.Records, seedlog.Record{Keyed: c.keyed})
		if got := sampleOf(idemtest.Service{}, s); got.Records[0].Again != c.want || got.InOrder || got.Check != nil || got.Name != "n" || got.Rows != "r" {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}
