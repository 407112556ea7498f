package franz

import (
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/internal/seeds"
	"github.com/idemgen/idemgen/runtime/franz/internal/options"
	"github.com/idemgen/idemgen/runtime/idem"
)

// fetchBytes is how many bytes of a partition the client fetches at a time, unless Options say
// otherwise. A large fetch of a partition whose queue is full holds up those of others, and is
// dropped when the partition is paused.
const fetchBytes = 128 << 10

// usualSession is the session timeout if Options set none: the client's own default.
const usualSession = 45 * time.Second

// usual are idemgen's defaults, which Options may change. A new partition is fetched only after
// the pending fetch of the others has ended, so no fetch may wait long.
func usual(sub idem.Subscription) []kgo.Opt {
	session := usualSession
	if most := sub.MaxPollInterval; most > 0 {
		session = min(session, most)
	}
	return []kgo.Opt{
		kgo.FetchMaxBytes(2 << 20), kgo.FetchMaxPartitionBytes(fetchBytes), kgo.FetchMaxWait(50 * time.Millisecond),
		kgo.MetadataMaxAge(time.Minute), // when new partitions are found
		kgo.SessionTimeout(session), kgo.HeartbeatInterval(min(3*time.Second, session/3)),
	}
}

// refused are the options that Options must not contain, because the guarantee depends on them or
// because they are set elsewhere, each with the reason.
var refused = []options.Refusal{
	{Option: kgo.SeedBrokers, Why: "use Source.Brokers"},
	{Option: kgo.WithLogger, Why: "use Source.Logger"},
	{Option: kgo.WithContext, Why: "pass the context to Run"},
	{Option: kgo.ConsumerGroup, Why: "it is the consumer's name in the spec, or that of idem.WithGroup"},
	{Option: kgo.ShareGroup, Why: "a record of a share group has no owner"},
	{Option: kgo.GroupProtocol, Why: "it is always that of a consumer group"},
	{Option: kgo.ConsumeTopics, Why: "the spec names the topics"},
	{Option: kgo.ConsumePartitions, Why: "the group assigns partitions"},
	{Option: kgo.ConsumeRegex, Why: "the spec names the topics"},
	{Option: kgo.ConsumeStartOffset, Why: "the ledger holds the position"},
	{Option: kgo.ConsumeResetOffset, Why: "the ledger holds the position"},
	{Option: kgo.AdjustFetchOffsetsFn, Why: "the ledger holds the position"},
	{Option: kgo.OnOffsetsFetched, Why: "the ledger holds the position"},
	{Option: kgo.TransactionalID, Why: "nothing is produced"},
	{Option: kgo.FetchIsolationLevel, Why: "aborted transactions must not be seen"},
	{Option: kgo.DisableFetchCRCValidation, Why: "corrupt records must be detected"},
	{Option: kgo.KeepControlRecords, Why: "the source handles them itself"},
	{Option: kgo.KeepRetryableFetchErrors, Why: "the client retries by itself"},
	{Option: kgo.WithPools, Why: "records are kept until they are durable"},
	{Option: kgo.Balancers, Why: "it is cooperative-sticky, because a rebalance must not stop the partitions that stay"},
	{Option: kgo.BlockRebalanceOnPoll, Why: "rebalances are part of the guarantee"},
	{Option: kgo.RebalanceTimeout, Why: "it follows from limits.batch_timeout of the spec"},
	{Option: kgo.AllowAutoTopicCreation, Why: "the source waits for a topic that does not exist"},
}

// settings are the options of both clients.
type settings struct {
	all     []kgo.Opt
	session string // how long the group waits for a dead member, in words
}

// settings returns the clients' options, or an error that names every rejected one.
func (s *Source) settings(sub idem.Subscription) (*settings, error) {
	var errs []error
	if len(seeds.Of(s.Brokers)) == 0 {
		errs = append(errs, errors.New("franz: Source.Brokers is empty"))
	}
	if sub.Group == "" || len(sub.Topics) == 0 || sub.BatchEvents < 1 || sub.BatchBytes < 1 || sub.BatchWait <= 0 {
		errs = append(errs, errors.New("franz: the subscription lacks a group, topics or batch limits"))
	}
	// The options are checked without a group, so the client rejects options meant for the
	// application of a group.
	asked, err := options.Check(usual(sub), s.Options, refused)
	if err != nil {
		errs = append(errs, fmt.Errorf("franz: Source.Options: %w", err))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	set := &settings{session: fmt.Sprintf("%v (kgo.SessionTimeout)", asked(kgo.SessionTimeout))}
	if asked(kgo.ServerSideBalancer).(bool) {
		set.session = "the group's consumer.session.timeout.ms, by default 45s"
	}
	set.all = append(append(usual(sub), s.Options...),
		kgo.SeedBrokers(seeds.Of(s.Brokers)...), kgo.Balancers(kgo.CooperativeStickyBalancer()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()), kgo.ConsumeStartOffset(kgo.NoResetOffset()))
	return set, nil
}
