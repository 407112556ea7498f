package doctor

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	dbledger "github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// aCluster is one whose topics begin at offset 5 and end at 20.
func aCluster(ledgers map[int32]ledger) *cluster {
	k := &cluster{examination: &examination{Service: Service{Group: "g"}, stopped: map[place]string{}}, wrong: map[place]int64{}}
	if ledgers != nil {
		k.ledgers = map[string]map[int32]ledger{"t": ledgers}
	}
	return k
}

// compare compares a topic of so many partitions.
func (k *cluster) compare(t Topic, partitions int32, in log) string {
	d := kadm.TopicDetail{ID: kadm.TopicID{1}, Partitions: kadm.PartitionDetails{}}
	in.starts, in.ends = map[int32]kadm.ListedOffset{}, map[int32]kadm.ListedOffset{}
	for p := range partitions {
		d.Partitions[p], in.starts[p], in.ends[p] = kadm.PartitionDetail{}, kadm.ListedOffset{Offset: 5}, kadm.ListedOffset{Offset: 20}
	}
	t.Name = "t"
	k.topic(t, d, in)
	return found(k.examination)
}

// at is a ledger of a topic with one partition.
func at(position int64, changes ...func(*ledger)) ledger {
	l := ledger{operate.Tail{Position: position, Epoch: 3, Partitions: 1, Unmoved: 119.6}, 1, uuidText(kadm.TopicID{1})}
	for _, change := range changes {
		change(&l)
	}
	return l
}

// answers ends a context when brokers have answered so many requests of a kind.
type answers struct {
	kind kmsg.Key
	left int
	end  context.CancelFunc
}

func (a *answers) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, _ kgo.BrokerE2E) {
	if key == a.kind.Int16() {
		if a.left--; a.left == 0 {
			a.end()
		}
	}
}

// ended counts clients that were closed.
type ended struct{ clients int }

func (c *ended) OnClientClosed(*kgo.Client) { c.clients++ }

// The client is closed, whether the brokers answer or not.
func TestNoClientIsLeftOpen(t *testing.T) {
	broker := idemtest.Kafka(t, nil)
	var closed ended
	for address, want := range map[string]string{broker.Addr(): "ok kafka: the brokers answer in ", "127.0.0.1:1": "FAIL kafka: the brokers do not respond: "} {
		e := &examination{Around: Around{Kafka: []kgo.Opt{kgo.SeedBrokers(address), kgo.WithHooks(&closed), kgo.RetryTimeout(time.Second)}}}
		e.kafka(t.Context())
		if got := found(e); !strings.HasPrefix(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if closed.clients != 2 {
		t.Errorf("%d of 2 clients were closed", closed.clients)
	}
}

// Whatever the brokers are asked about the topics: if they do not answer, that is said.
func TestTopicsOfBrokersThatFallSilent(t *testing.T) {
	broker := idemtest.Kafka(t, map[string]int32{"t": 1})
	for what, last := range map[string]answers{"ends": {kmsg.ListOffsets, 1, nil}, "epochs": {kmsg.ListOffsets, 2, nil}, "none": {}} {
		ctx, cancel := context.WithCancel(t.Context())
		a := &answers{}
		client, err := kgo.NewClient(kgo.SeedBrokers(broker.Addr()), kgo.WithHooks(a))
		if err != nil {
			t.Fatal(err)
		}
		k := aCluster(nil)
		k.Topics, k.admin = []Topic{{Name: "t"}}, kadm.NewClient(client)
		details, err := k.admin.ListTopics(t.Context(), "t")
		if err != nil {
			t.Fatal(err)
		}
		k.ledgers = map[string]map[int32]ledger{"t": {0: at(0, func(l *ledger) { l.topicID = uuidText(details["t"].ID) })}}
		last.end = cancel
		*a = last
		if err := k.topics(ctx); (err == nil) != (what == "none") {
			t.Errorf("%s: %v", what, err)
		}
		cancel()
		if err := k.topics(ctx); err == nil {
			t.Errorf("%s: the context is over, and nothing is said", what)
		}
		client.Close()
	}
}

// What differs between a log and its ledger is a failure, unless the partition's process says so
// itself. Only a topic without a failure is said to be fine, with the records that are left.
func TestTopicsAreComparedWithTheirLedgers(t *testing.T) {
	const (
		halted  = ` | read "When a partition is halted" in idemgen's docs/operations.md`
		stuck   = "FAIL partition t/0: no progress for 2m0s, although the record at offset 12 waits and the group has members | look in the logs of the group's members for the reason; "
		passed  = "FAIL partition t/0: the topic begins at offset 5, and the next record to apply is 4: Kafka deleted records before they were applied"
		another = "FAIL partition t/0: the topic has another id than in the ledger: it was deleted and created again, or this is another cluster"
	)
	paused := func(l *ledger) { l.Kind = "pause" }
	waits := log{waiting: map[int32]int64{0: 12}}
	epoch := func(end int64) log { return log{epochs: map[int32]int64{0: end}} }
	for what, c := range map[string]struct {
		ledger  ledger
		in      log
		stopped string
		want    string
	}{
		"in the middle":  {at(10), log{}, "", "ok topic t: 1 partition, 1 with a ledger, at most 10 records not applied yet"},
		"one is left":    {at(19), log{}, "", "ok topic t: 1 partition, 1 with a ledger, at most 1 record not applied yet"},
		"at the end":     {at(20), log{}, "", "ok topic t: 1 partition, 1 with a ledger, 0 records not applied yet"},
		"at the start":   {at(5), log{}, "", "ok topic t: 1 partition, 1 with a ledger, at most 15 records not applied yet"},
		"before it":      {at(4), log{}, "", passed + halted},
		"its process":    {at(4), log{}, "retention-passed", ""},
		"another reason": {at(4), log{}, "topic-recreated", passed + halted},
		"behind the end": {at(21), log{}, "", "FAIL partition t/0: the topic ends at offset 20, and the next record to apply is 21: Kafka lost records that were applied, or this is another cluster" + halted},
		"another id":     {at(10, func(l *ledger) { l.topicID = uuidText(kadm.TopicID{2}) }), log{}, "", another + halted},
		"no id yet":      {at(20, func(l *ledger) { l.topicID = uuidText(kadm.TopicID{}) }), log{}, "", "ok topic t: 1 partition, 1 with a ledger, 0 records not applied yet"},
		"had two":        {at(10, func(l *ledger) { l.Partitions = 2 }), log{}, "", "FAIL partition t/0: the topic has 1 partition, and had 2 when the ledger was written" + halted},
		"no such epoch": {at(10), epoch(-1), "", "FAIL partition t/0: the log has no leader epoch 3, under which the records before the position 10 were read: " +
			"the cluster was restored to an earlier state, or replaced" + halted},
		"the epoch is over": {at(10), epoch(9), "", "FAIL partition t/0: the log was truncated at offset 9, where leader epoch 3 ends, before the position 10: " +
			"records written since then have offsets that count as applied" + halted},
		"an empty epoch":     {at(5), epoch(0), "", "FAIL partition t/0: the log was truncated at offset 0, where leader epoch 3 ends, before the position 5: " + "records written since then have offsets that count as applied" + halted},
		"the epoch ends":     {at(20), epoch(20), "", "ok topic t: 1 partition, 1 with a ledger, 0 records not applied yet"},
		"no progress":        {at(10), waits, "", stuck + halted[3:]},
		"paused":             {at(20, paused), waits, "", "ok topic t: 1 partition, 1 with a ledger, 0 records not applied yet"},
		"its process is why": {at(10), waits, "database", ""},
	} {
		k := aCluster(map[int32]ledger{0: c.ledger})
		if c.stopped != "" {
			k.stopped[place{"t", 0}] = c.stopped
		}
		if got := k.compare(Topic{Fixed: true}, 1, c.in); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", what, got, c.want)
		}
	}
	k := aCluster(map[int32]ledger{0: at(10, func(l *ledger) { l.Partitions = 2 })})
	if got, want := k.compare(Topic{}, 1, log{}), "ok topic t: 1 partition, 1 with a ledger, at most 10 records not applied yet"; got != want {
		t.Errorf("a topic whose number of partitions may change:\n%s\nwant\n%s", got, want)
	}
	k = aCluster(map[int32]ledger{0: at(4, func(l *ledger) { l.Partitions = 2 })})
	if got, want := k.compare(Topic{}, 2, log{}), passed+halted+"\nskip topic t: 1 partition without a ledger yet | "+
		"nothing, once the failures above are repaired: the service writes a ledger when it begins to read a partition"; got != want {
		t.Errorf("half of it:\n%s\nwant\n%s", got, want)
	}
	if k.wrong[place{"t", 0}] != 4 {
		t.Errorf("what looks wrong: %v", k.wrong)
	}
	for was, want := range map[place]string{{"t", 0}: passed + halted, {"t", 1}: "ok topic t: 1 partition, 1 with a ledger, at most 15 records not applied yet"} {
		k := aCluster(map[int32]ledger{0: at(4)})
		k.first = map[place]int64{was: 4}
		if got := k.compare(Topic{}, 1, log{}); got != want {
			t.Errorf("at the second look, after %v:\n%s\nwant\n%s", was, got, want)
		}
	}
}

// Where a partition without a ledger begins follows from the offset that its group has committed.
// It halts if that is one of a service of idemgen, or outside of the log.
func TestWhereAPartitionBegins(t *testing.T) {
	const (
		missing   = ` | read "ledger-missing" in idemgen's docs/operations.md`
		noLedger  = ", but the database has no ledger: the partition halts" + missing
		wrongName = "\nwarn topic t: group g has no committed offset of it: every partition begins at its earliest record | if another program has consumed the topic, " +
			"the name of the group is wrong: give its name to idem.WithGroup in main.go, and to doctor as --group"
		all, none = "ok topic t: 1 partition, 0 with a ledger, at most 15 records not applied yet", "ok topic t: 1 partition, 0 with a ledger, 0 records not applied yet"
	)
	mark := dbledger.Mark{Consumer: "orders"}.String()
	for what, c := range map[string]struct {
		from      string
		committed int64
		metadata  string
		change    func(*cluster)
		want      string
	}{
		"nothing":             {"earliest", -1, "", nil, all},
		"latest":              {"latest", -1, "", nil, none},
		"latest, and ledgers": {"latest", -1, "", func(k *cluster) { k.ledgers["t"][7] = at(9) }, strings.Replace(all, "0 with", "1 with", 1)},
		"a wrong name":        {"committed", -1, "", nil, wrongName[1:] + "\n" + all},
		"an unknown offset":   {"committed", -1, "", func(k *cluster) { k.noOffsets = errors.New("no answer") }, all},
		"no database":         {"committed", -1, "", func(k *cluster) { k.ledgers = nil }, "ok topic t: 1 partition; how much of it was applied is unknown, because no ledger was read"},
		"a service's":         {"committed", 7, mark, nil, "FAIL partition t/0: a service of idemgen has committed offset 7 in Kafka" + noLedger + "\n" + all},
		"of another program":  {"earliest", 7, "x", nil, "warn partition t/0: the group has committed offset 7 in Kafka" + noLedger + "\n" + all},
		"stopped":             {"earliest", 7, "x", func(k *cluster) { k.stopped[place{"t", 0}] = "ledger-missing" }, "skip topic t: 1 partition without a ledger yet | nothing, once the failures above are repaired: the service writes a ledger when it begins to read a partition"},
		"before the log":      {"committed", 4, "x", nil, "warn partition t/0: the topic begins at offset 5, and the group has committed offset 4: the partition halts" + ` | read "When a partition is halted" in idemgen's docs/operations.md` + "\n" + all},
		"behind the log":      {"committed", 21, "x", nil, "warn partition t/0: the topic ends at offset 20, and the group has committed offset 21: the partition halts" + ` | read "log-truncated" in idemgen's docs/operations.md` + "\n" + all},
		"the first":           {"committed", 5, "x", nil, "ok partition t/0: begins at the group's committed offset 5\n" + all},
		"the end":             {"committed", 20, "x", nil, "ok partition t/0: begins at the group's committed offset 20\n" + none},
	} {
		k := aCluster(map[int32]ledger{})
		if c.committed >= 0 {
			k.committed = kadm.OffsetResponses{"t": {0: {Offset: kadm.Offset{At: c.committed, Metadata: c.metadata}}}}
		}
		if c.change != nil {
			c.change(k)
		}
		if got := k.compare(Topic{StartFrom: c.from}, 1, log{}); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", what, got, c.want)
		}
	}
}

// An offset of the group past the ledger's position says that commits were lost, that an operator
// set the position back, or that another program has consumed. Without members the service does
// not run.
func TestOffsetsOfTheGroupAreCompared(t *testing.T) {
	const (
		ahead = "the group has committed offset 11 in Kafka, and the next record to apply is 10 | "
		anew  = "check that this is the right database; if this ledger was begun anew, the service commits its own offset with the next records"
		check = "check that this is the right database, and that nothing else commits offsets for this group"
		takes = "if the program that this service takes over from has consumed meanwhile, make its ids known with idemgen adopt keys: the service then applies what follows (docs/adopt.md); otherwise "
	)
	db := idemtest.Migrated(t, "../../../../templates/sql")
	idemtest.Exec(t, db, `INSERT INTO idem_stream (stream, id, consumer, topic, topic_id, partition) OVERRIDING SYSTEM VALUE VALUES (1, '01000000-0000-0000-0000-000000000000', 'orders', 't', gen_random_uuid(), 0);
INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq, info, writer) VALUES (1, 0, '02000000-0000-0000-0000-000000000000', 11, 11, 'g', -1, 3, 1, 0, '', 'w'),
	(1, 1, '03000000-0000-0000-0000-000000000000', 11, 10, 'r', -1, 3, 1, 0, 'set back', 'o')`)
	lost := dbledger.Mark{Stream: wire.UUID{1}, Seq: 2, Token: wire.UUID{4}, Consumer: "orders"}
	setBack, another := lost, lost
	setBack.Seq, setBack.Token, another.Stream = 0, wire.UUID{2}, wire.UUID{5}
	for what, c := range map[string]struct {
		members   int
		partition int32
		committed int64
		metadata  string
		from      string
		want      string
	}{
		"none":               {0, 0, 10, "", "", "warn group g: it has no members: the service does not run | start the service"},
		"as far":             {1, 0, 10, "", "", "ok group g: 1 member; one that was killed counts until its session ends"},
		"no ledger":          {2, 1, 11, "", "", "ok group g: 2 members; one that was killed counts until its session ends"},
		"set back":           {1, 0, 11, setBack.String(), "committed", "ok group g: 1 member; one that was killed counts until its session ends"},
		"of another chain":   {1, 0, 11, another.String(), "", "warn partition t/0: consumer orders has committed offset 11 in Kafka from another ledger, and the next record to apply is 10 | " + anew},
		"lost commits":       {1, 0, 11, lost.String(), "committed", "FAIL partition t/0: the database lost commits: consumer orders has committed offset 11 in Kafka, and the next record to apply is 10 | " + lostAdvice},
		"of another program": {1, 0, 11, "x", "earliest", "FAIL partition t/0: " + ahead + check},
		"a take-over":        {1, 0, 11, "x", "committed", "warn partition t/0: " + ahead + takes + check},
	} {
		k := aCluster(map[int32]ledger{0: at(10)})
		k.Database = db
		k.members, k.Topics = c.members, []Topic{{Name: "other", StartFrom: "committed"}, {Name: "t", StartFrom: c.from}}
		k.committed = kadm.OffsetResponses{"t": {c.partition: {Offset: kadm.Offset{Topic: "t", Partition: c.partition, At: c.committed, Metadata: c.metadata}}}}
		err := k.group(t.Context())
		got, member, _ := strings.Cut(found(k.examination), "\n")
		if member != "" {
			got = member
		}
		if got != c.want || err != nil {
			t.Errorf("%s: %v\n%s\nwant\n%s", what, err, got, c.want)
		}
		k.noOffsets = errors.New("no answer")
		if err := k.group(t.Context()); !errors.Is(err, k.noOffsets) {
			t.Errorf("%s: offsets that are not known: %v", what, err)
		}
	}
}

// How long a topic keeps records is compared with how long their keys are known.
func TestRetentionIsComparedWithTheWindow(t *testing.T) {
	kafka, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "t"))
	if err != nil {
		t.Fatal(err)
	}
	defer kafka.Close()
	client, err := kgo.NewClient(kgo.SeedBrokers(kafka.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	k := aCluster(nil)
	k.admin = kadm.NewClient(client)
	const again = " | reading the topic from its beginning again may apply events twice, because their keys are no longer known: make the window longer, or the retention shorter"
	for _, c := range []struct {
		policy, ms string
		window     time.Duration
		want       string
	}{
		{"delete", "86400000", 0, ""},
		{"delete", "86400000", 36 * time.Hour, "ok retention of t: records are kept for 1d, and their keys for 36h0m0s"},
		{"delete", "86400000", 24 * time.Hour, "ok retention of t: records are kept for 1d, and their keys for 1d"},
		{"compact,delete", "86400001", 24 * time.Hour, "warn retention of t: records are kept for 24h0m0.001s, and their keys for 1d" + again},
		{"delete", "0", time.Hour, "ok retention of t: records are kept for 0s, and their keys for 1h0m0s"},
		{"delete", "-1", 24 * time.Hour, "warn retention of t: records are kept for ever, and their keys for 1d" + again},
		{"compact", "1", 48 * time.Hour, "warn retention of t: records are kept for ever, and their keys for 2d" + again},
		{"delete", "9223372036854775807", 24 * time.Hour, "warn retention of t: records are kept for ever, and their keys for 1d" + again},
		{"delete", "x", 24 * time.Hour, `skip retention of t: the topic's configuration could not be read: retention.ms: strconv.ParseInt: parsing "x": invalid syntax | compare retention.ms with the window of the keys, 1d`},
	} {
		configs := []kadm.AlterConfig{{Name: "cleanup.policy", Value: &c.policy}, {Name: "retention.ms", Value: &c.ms}}
		if answers, err := k.admin.AlterTopicConfigs(t.Context(), configs, "t"); err != nil || answers[0].Err != nil {
			t.Fatal(answers, err)
		}
		k.checks = nil
		if k.retention(t.Context(), Topic{Name: "t", Window: c.window}); found(k.examination) != c.want {
			t.Errorf("%+v:\n%s\nwant\n%s", c, found(k.examination), c.want)
		}
	}
	for _, refuse := range []bool{true, false} {
		kafka.ControlKey(int16(kmsg.DescribeConfigs), func(r kmsg.Request) (kmsg.Response, error, bool) {
			answer := r.ResponseKind().(*kmsg.DescribeConfigsResponse)
			if refuse {
				answer.Resources = []kmsg.DescribeConfigsResponseResource{{ResourceName: "t", ResourceType: kmsg.ConfigResourceTypeTopic, ErrorCode: kerr.TopicAuthorizationFailed.Code}}
			}
			return answer, nil, true
		})
		k.checks = nil
		const want = "skip retention of t: the topic's configuration could not be read: "
		if k.retention(t.Context(), Topic{Name: "t", Window: time.Hour}); !strings.HasPrefix(found(k.examination), want) || refuse != strings.Contains(found(k.examination), "TOPIC_AUTHORIZATION_FAILED") {
			t.Errorf("%s\nwant %s", found(k.examination), want)
		}
	}
}
