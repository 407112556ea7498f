package franz

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/idem"
)

func subscription() idem.Subscription {
	return idem.Subscription{
		Group: "orders", Topics: []string{"orders.v1"},
		BatchEvents: 100, BatchBytes: 1 << 20, BatchWait: 20 * time.Millisecond, MaxPollInterval: time.Minute,
	}
}

func TestOptionsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]kgo.Opt{
		"kgo.SeedBrokers":               kgo.SeedBrokers("b:9092"),
		"kgo.WithLogger":                kgo.WithLogger(kgo.BasicLogger(nil, kgo.LogLevelNone, nil)),
		"kgo.WithContext":               kgo.WithContext(t.Context()),
		"kgo.ConsumerGroup":             kgo.ConsumerGroup("other"),
		"kgo.ConsumeTopics":             kgo.ConsumeTopics("other"),
		"kgo.ConsumeStartOffset":        kgo.ConsumeStartOffset(kgo.NewOffset().AtEnd()),
		"kgo.ConsumeResetOffset":        kgo.ConsumeResetOffset(kgo.NewOffset().AtEnd()),
		"kgo.FetchIsolationLevel":       kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		"kgo.DisableFetchCRCValidation": kgo.DisableFetchCRCValidation(),
		"kgo.KeepControlRecords":        kgo.KeepControlRecords(),
		"kgo.Balancers":                 kgo.Balancers(kgo.RangeBalancer()),
		"kgo.BlockRebalanceOnPoll":      kgo.BlockRebalanceOnPoll(),
		"kgo.RebalanceTimeout":          kgo.RebalanceTimeout(time.Hour),
		"kgo.TransactionalID":           kgo.TransactionalID("other"),
		"kgo.AllowAutoTopicCreation":    kgo.AllowAutoTopicCreation(),
		"assigned":                      kgo.OnPartitionsAssigned(func(context.Context, *kgo.Client, map[string][]int32) {}),
		"autocommit":                    kgo.AutoCommitMarks(),
	} {
		s := &Source{Brokers: "127.0.0.1:1", Options: []kgo.Opt{option}}
		if err := s.Run(t.Context(), subscription(), nil); err == nil || !strings.Contains(err.Error(), name) || !strings.HasPrefix(err.Error(), "franz: Source.Options: ") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	err := (&Source{}).Run(t.Context(), subscription(), nil)
	if err == nil || err.Error() != "franz: Source.Brokers is empty" {
		t.Errorf("no brokers: got %v", err)
	}
}

// All else may be set, and the client takes what it then has; also with the shortest interval
// between polls that a spec may have.
func TestOptionsThatAreSet(t *testing.T) {
	t.Parallel()
	for want, options := range map[string][]kgo.Opt{
		"13s (kgo.SessionTimeout)":    nil,
		"6s (kgo.SessionTimeout)":     {kgo.SessionTimeout(6 * time.Second), kgo.ClientID("c"), kgo.FetchMaxBytes(1 << 20), kgo.Rack("a")},
		"consumer.session.timeout.ms": {kgo.ServerSideBalancer(), kgo.InstanceID("one")},
	} {
		sub := subscription()
		sub.MaxPollInterval = 13 * time.Second
		s := &Source{Brokers: "127.0.0.1:1,127.0.0.1:2", Options: options}
		set, err := s.settings(sub)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(set.session, want) {
			t.Errorf("the group waits for %q, want %q", set.session, want)
		}
		g := newGroup()
		if err := g.join(set.all, sub); err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		if level := g.client.OptValue(kgo.FetchIsolationLevel); level != int8(1) {
			t.Errorf("%s: the isolation level is %v", want, level)
		}
		g.leave()
	}
}
