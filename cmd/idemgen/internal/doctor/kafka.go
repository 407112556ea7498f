package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/internal/operate"
)

func (e *examination) kafka(ctx context.Context) {
	if e.Kafka == nil {
		e.add(Skipped, "kafka", "set $KAFKA_BROKERS, or write --brokers", "not examined: no address was given")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client, err := kgo.NewClient(e.Kafka...)
	if err != nil {
		e.failed("kafka", err)
		return
	}
	defer client.Close()
	asked := time.Now()
	if err := client.Ping(ctx); err != nil {
		e.add(Failure, "kafka", BrokerAdvice(err), "the brokers do not respond: %v", err)
		return
	}
	e.add(OK, "kafka", "", "the brokers answer in %s", time.Since(asked).Round(100*time.Microsecond))
	k := cluster{examination: e, admin: kadm.NewClient(client)}
	k.members = k.countMembers(ctx)
	before := len(e.checks)
	if k.look(ctx); len(k.wrong) == 0 {
		return
	}
	again, cancel := context.WithTimeout(context.WithoutCancel(ctx), pause+patience)
	defer cancel()
	k.lookAgain(again, before)
}

// pause is how long doctor waits until it looks again at what looks wrong.
const pause = 2 * time.Second

// place is a partition of a topic.
type place struct {
	topic     string
	partition int32
}

// look compares the topics and the group's offsets with the ledgers.
func (k *cluster) look(ctx context.Context) {
	k.wrong = map[place]int64{}
	if k.first == nil {
		k.committed, k.noOffsets = k.fetchOffsets(ctx)
	}
	if err := k.topics(ctx); err != nil {
		k.failed("topics", err)
	}
	if err := k.group(ctx); err != nil {
		k.failed("group", err)
	}
}

// lookAgain looks a second time and drops the checks of the first look, which come after so many
// others. A service at work changes ledgers, offsets and logs between two questions, so what was
// wrong only once is not reported. The offsets are asked for before the ledgers here, because a
// service commits an offset after it has written the ledger.
func (k *cluster) lookAgain(ctx context.Context, after int) {
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
	k.committed, k.noOffsets = k.fetchOffsets(ctx)
	ledgers, _, err := k.readLedgers(ctx)
	if err != nil {
		k.failed("ledgers", err)
		return
	}
	k.ledgers, k.first = ledgers, k.wrong
	k.checks = k.checks[:after]
	k.look(ctx)
}

// report adds a check of a partition that looks wrong, at the second look only if it already did
// at the first one.
func (k *cluster) report(state State, topic string, partition int32, advice, found string, args ...any) (reported bool) {
	p := place{topic, partition}
	k.wrong[p] = k.ledgers[topic][partition].Position
	if _, was := k.first[p]; k.first != nil && !was {
		return false
	}
	k.add(state, fmt.Sprintf("partition %s/%d", topic, partition), advice, found, args...)
	return true
}

// cluster is the part of an examination that asks the brokers.
type cluster struct {
	*examination
	admin     *kadm.Client
	members   int                  // of the group
	committed kadm.OffsetResponses // offsets of the group
	noOffsets error                // why they could not be
	wrong     map[place]int64      // partitions that look wrong, with their positions
	first     map[place]int64      // those of the first look; nil while it is under way
}

func (k *cluster) topics(ctx context.Context) error {
	var names []string
	for _, t := range k.Topics {
		names = append(names, t.Name)
	}
	details, err := k.admin.ListTopics(ctx, names...)
	if err != nil {
		return err
	}
	starts, err := k.admin.ListStartOffsets(ctx, names...)
	if err != nil {
		return err
	}
	ends, err := k.admin.ListEndOffsets(ctx, names...)
	if err != nil {
		return err
	}
	epochs, err := k.epochEnds(ctx, details)
	if err != nil {
		return err
	}
	for _, t := range k.Topics {
		d, is := details[t.Name]
		if !is || d.Err != nil {
			k.add(Failure, "topic "+t.Name, "create it, or correct the name in the spec: the service waits until it exists", "the brokers have no topic of this name, or this client may not see it")
			continue
		}
		if d.ID == (kadm.TopicID{}) {
			k.add(Failure, "topic "+t.Name, "upgrade the broker: Kafka 2.8 is the first with topic ids", "the broker gives no topic id, so the service does not read it")
			continue
		}
		k.topic(t, d, log{starts[t.Name], ends[t.Name], epochs[t.Name], k.waiting(ctx, t, ends[t.Name])})
		k.retention(ctx, t)
	}
	return nil
}

// log is what the brokers say of a topic's partitions.
type log struct {
	starts, ends map[int32]kadm.ListedOffset
	epochs       map[int32]int64 // where the leader epoch of the ledger's position ends; -1 if the log has none so high
	waiting      map[int32]int64 // offset of the record that waits where there was no progress for long
}

// topic compares a topic with the ledgers of its partitions.
func (k *cluster) topic(t Topic, d kadm.TopicDetail, in log) {
	behind, fine, fresh, unread := int64(0), true, 0, 0
	report := func(p int32, advice, found string, args ...any) {
		if k.report(Failure, t.Name, p, advice, found, args...) {
			fine = false
		}
	}
	wrong := func(p int32, code, found string, args ...any) {
		if k.stopped[place{t.Name, p}] != code { // else its process has said so
			report(p, manual("When a partition is halted"), found, args...)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(d.Partitions)) {
		l, is := k.ledgers[t.Name][p]
		start, end := in.starts[p].Offset, in.ends[p].Offset
		epochEnd, known := in.epochs[p]
		next, waits := in.waiting[p]
		stopped := k.stopped[place{t.Name, p}] != ""
		fine = fine && !stopped
		switch {
		case !is:
			behind += end - k.begin(t, p, start, end)
			fresh++
			if k.offset(t.Name, p) < 0 {
				unread++
			}
			continue
		case l.topicID != uuidText(d.ID) && l.topicID != uuidText(kadm.TopicID{}):
			wrong(p, "topic-recreated", "the topic has another id than in the ledger: it was deleted and created again, or this is another cluster")
		case t.Fixed && l.Partitions != int32(len(d.Partitions)):
			wrong(p, "partitions-changed", "the topic has %s, and had %d when the ledger was written", count(len(d.Partitions), "partition"), l.Partitions)
		case l.Position < start:
			wrong(p, "retention-passed", "the topic begins at offset %d, and the next record to apply is %d: Kafka deleted records before they were applied", start, l.Position)
		case l.Position > end:
			wrong(p, "log-truncated", "the topic ends at offset %d, and the next record to apply is %d: Kafka lost records that were applied, or this is another cluster", end, l.Position)
		case known && epochEnd < 0:
			wrong(p, "log-truncated", "the log has no leader epoch %d, under which the records before the position %d were read: the cluster was restored to an earlier state, or replaced", l.Epoch, l.Position)
		case known && epochEnd < l.Position:
			wrong(p, "log-truncated", "the log was truncated at offset %d, where leader epoch %d ends, before the position %d: records written since then have offsets that count as applied", epochEnd, l.Epoch, l.Position)
		case stopped || l.Kind == "pause": // its process, or the ledger, has said why
		case waits:
			report(p, "look in the logs of the group's members for the reason; "+manual("When a partition is halted"),
				"no progress for %s, although the record at offset %d waits and the group has members", age(l.Unmoved), next)
		}
		behind += max(0, end-max(l.Position, start))
	}
	if t.StartFrom == "committed" && unread == len(d.Partitions) && k.ledgers != nil && k.noOffsets == nil {
		k.add(Warning, "topic "+t.Name, "if another program has consumed the topic, the name of the group is wrong: give its name to idem.WithGroup in main.go, and to doctor as --group",
			"group %s has no committed offset of it: every partition begins at its earliest record", k.Group)
	}
	if !fine && fresh > 0 {
		k.add(Skipped, "topic "+t.Name, "nothing, once the failures above are repaired: the service writes a ledger when it begins to read a partition", "%s without a ledger yet", count(fresh, "partition"))
	}
	switch {
	case k.ledgers == nil:
		k.add(OK, "topic "+t.Name, "", "%s; how much of it was applied is unknown, because no ledger was read", count(len(d.Partitions), "partition"))
	case fine:
		k.add(OK, "topic "+t.Name, "", "%s, %d with a ledger, %s", count(len(d.Partitions), "partition"), len(k.ledgers[t.Name]), notApplied(behind))
	}
}

// notApplied says how many records are left. Offsets also count the markers of transactions, and
// records that compaction has removed.
func notApplied(offsets int64) string {
	if offsets == 0 {
		return "0 records not applied yet"
	}
	return "at most " + count(offsets, "record") + " not applied yet"
}

func age(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second)).Round(time.Second)
}

// uuidText is a topic's id as the database has it.
func uuidText(id kadm.TopicID) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// group looks at who reads, and at the offsets that are committed in Kafka.
func (k *cluster) group(ctx context.Context) error {
	if n := k.members; n > 0 {
		k.add(OK, "group "+k.Group, "", "%s; one that was killed counts until its session ends", count(n, "member"))
	} else {
		k.add(Warning, "group "+k.Group, "start the service", "it has no members: the service does not run")
	}
	if k.noOffsets != nil {
		return k.noOffsets
	}
	var unknown error
	k.committed.Each(func(o kadm.OffsetResponse) {
		l, is := k.ledgers[o.Topic][o.Partition]
		if !is || o.At <= l.Position || unknown != nil {
			return
		}
		if consumer, ours := operate.CommittedBy(o.Metadata); ours { // the position may also have been set back
			var lost, other bool
			switch lost, other, unknown = operate.LostCommits(ctx, k.Database, l.stream, o.At, o.Metadata); {
			case lost:
				k.report(Failure, o.Topic, o.Partition, lostAdvice, "the database lost commits: consumer %s has committed offset %d in Kafka, and the next record to apply is %d", consumer, o.At, l.Position)
			case other:
				k.report(Warning, o.Topic, o.Partition, "check that this is the right database; if this ledger was begun anew, the service commits its own offset with the next records",
					"consumer %s has committed offset %d in Kafka from another ledger, and the next record to apply is %d", consumer, o.At, l.Position)
			}
			return
		}
		state, advice := Failure, "check that this is the right database, and that nothing else commits offsets for this group"
		if slices.ContainsFunc(k.Topics, func(t Topic) bool { return t.Name == o.Topic && t.StartFrom == "committed" }) {
			state, advice = Warning, "if the program that this service takes over from has consumed meanwhile, make its ids known with idemgen adopt keys: "+
				"the service then applies what follows (docs/adopt.md); otherwise "+advice
		}
		k.report(state, o.Topic, o.Partition, advice, "the group has committed offset %d in Kafka, and the next record to apply is %d", o.At, l.Position)
	})
	return unknown
}

// begin says how a partition without a ledger begins if the group has committed an offset, and
// returns where it begins.
func (k *cluster) begin(t Topic, p int32, start, end int64) int64 {
	at := k.offset(t.Name, p)
	switch {
	case k.ledgers == nil || k.noOffsets != nil || k.stopped[place{t.Name, p}] != "": // it is not known, or its process has said why
	case at < 0 && t.StartFrom == "latest" && len(k.ledgers[t.Name]) == 0:
		return end
	case at < 0:
	case k.marked(t.Name, p):
		k.report(Failure, t.Name, p, manual("ledger-missing"), "a service of idemgen has committed offset %d in Kafka, but the database has no ledger: the partition halts", at)
	case t.StartFrom != "committed":
		k.report(Warning, t.Name, p, manual("ledger-missing"), "the group has committed offset %d in Kafka, but the database has no ledger: the partition halts", at)
	case at < start:
		k.report(Warning, t.Name, p, manual("When a partition is halted"), "the topic begins at offset %d, and the group has committed offset %d: the partition halts", start, at)
	case at > end:
		k.report(Warning, t.Name, p, manual("log-truncated"), "the topic ends at offset %d, and the group has committed offset %d: the partition halts", end, at)
	default:
		k.add(OK, fmt.Sprintf("partition %s/%d", t.Name, p), "", "begins at the group's committed offset %d", at)
		return at
	}
	return start
}

// offset returns the offset that the group has committed; -1 if there is none.
func (k *cluster) offset(topic string, partition int32) int64 {
	if o, is := k.committed.Lookup(topic, partition); is {
		return o.At
	}
	return -1
}

// marked reports whether a service of idemgen has committed the group's offset.
func (k *cluster) marked(topic string, partition int32) bool {
	o, _ := k.committed.Lookup(topic, partition)
	_, ours := operate.CommittedBy(o.Metadata)
	return ours
}

// fetchOffsets fetches the offsets that the group has committed; a group that does not exist has
// none.
func (k *cluster) fetchOffsets(ctx context.Context) (kadm.OffsetResponses, error) {
	committed, err := k.admin.FetchOffsets(ctx, k.Group)
	if errors.Is(err, kerr.GroupIDNotFound) {
		err = nil
	}
	return committed, err
}

// countMembers counts the members of the group, whichever protocol it uses.
func (k *cluster) countMembers(ctx context.Context) int {
	if groups, err := k.admin.DescribeGroups(ctx, k.Group); err == nil && len(groups[k.Group].Members) > 0 {
		return len(groups[k.Group].Members)
	}
	groups, err := k.admin.DescribeConsumerGroups(ctx, k.Group) // KIP-848
	if err != nil {
		return 0
	}
	return len(groups[k.Group].Members)
}
