package franz

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/franz/internal/options"
)

// fetchBytes is how many bytes of a partition the client fetches at a time, unless Options say
// otherwise: a large fetch of a partition whose queue is full holds up those of others, and is
// lost when the partition is paused.
const fetchBytes = 128 << 10

// usualSession is how long the group waits for a member that is not heard of, if Options do not
// say; it is the client's own.
const usualSession = 45 * time.Second

// usual are defaults of ours, which Options may change. A partition that is new to the client is
// fetched when the fetch that waits for others has ended, so that none may wait long.
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

// refused are options that the guarantee rests on, or that have a place of their own, with why.
var refused = []options.Refusal{
	{Option: kgo.SeedBrokers, Why: "use Source.Brokers"},
	{Option: kgo.WithLogger, Why: "use Source.Logger"},
	{Option: kgo.WithContext, Why: "Run has one"},
	{Option: kgo.ConsumerGroup, Why: "it is the consumer's name in the spec"},
	{Option: kgo.ShareGroup, Why: "a record of a share group has no owner"},
	{Option: kgo.GroupProtocol, Why: "it is that of consumers"},
	{Option: kgo.ConsumeTopics, Why: "the spec has the topics"},
	{Option: kgo.ConsumePartitions, Why: "the group shares partitions out"},
	{Option: kgo.ConsumeRegex, Why: "the spec has the topics"},
	{Option: kgo.ConsumeStartOffset, Why: "the ledger holds the position"},
	{Option: kgo.ConsumeResetOffset, Why: "the ledger holds the position"},
	{Option: kgo.AdjustFetchOffsetsFn, Why: "the ledger holds the position"},
	{Option: kgo.OnOffsetsFetched, Why: "the ledger holds the position"},
	{Option: kgo.TransactionalID, Why: "nothing is produced"},
	{Option: kgo.FetchIsolationLevel, Why: "aborted transactions must not be seen"},
	{Option: kgo.DisableFetchCRCValidation, Why: "damaged records must not be believed"},
	{Option: kgo.KeepControlRecords, Why: "the source passes them itself"},
	{Option: kgo.KeepRetryableFetchErrors, Why: "the client tries again itself"},
	{Option: kgo.WithPools, Why: "records are kept until they are durable"},
	{Option: kgo.Balancers, Why: "a rebalance must not stop the partitions that stay: it is cooperative-sticky"},
	{Option: kgo.BlockRebalanceOnPoll, Why: "rebalances are part of the guarantee"},
	{Option: kgo.RebalanceTimeout, Why: "it follows from limits.batch_timeout of the spec"},
	{Option: kgo.AllowAutoTopicCreation, Why: "a topic that does not exist is waited for"},
}

// settings are the options of both clients.
type settings struct {
	all     []kgo.Opt
	session string // how long the group waits for a member that died, in words
}

// settings returns the clients' options, or an error that names every one refused.
func (s *Source) settings(sub idem.Subscription) (*settings, error) {
	var errs []error
	if s.Brokers == "" {
		errs = append(errs, errors.New("franz: Source.Brokers is empty"))
	}
	if sub.Group == "" || len(sub.Topics) == 0 || sub.BatchEvents < 1 || sub.BatchBytes < 1 || sub.BatchWait <= 0 {
		errs = append(errs, errors.New("franz: the subscription lacks a group, topics or the size of a batch"))
	}
	// Without a group, so that the client refuses what is for the application of one.
	asked, err := options.Check(usual(sub), s.Options, refused)
	if err != nil {
		errs = append(errs, fmt.Errorf("franz: Source.Options: %w", err))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	set := &settings{session: fmt.Sprintf("%v (kgo.SessionTimeout)", asked(kgo.SessionTimeout))}
	balancer := kgo.CooperativeStickyBalancer()
	if asked(kgo.ServerSideBalancer).(bool) {
		balancer = kgo.StickyBalancer() // which tells the brokers how to
		set.session = "what the group's consumer.session.timeout.ms says, 45s if nobody set it"
	}
	set.all = append(append(usual(sub), s.Options...),
		kgo.SeedBrokers(strings.Split(s.Brokers, ",")...), kgo.Balancers(balancer),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()), kgo.ConsumeStartOffset(kgo.NoResetOffset()))
	return set, nil
}
