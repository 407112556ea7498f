// Package fakebroker starts kfake, an in-process broker that speaks the Kafka protocol, with the
// versions of requests that real brokers accept.
//
// It must not import any other package of this module.
package fakebroker

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// New starts a cluster without TLS and SASL. kfake accepts OffsetForLeaderEpoch from version 3 on;
// Kafka, also Kafka 4, accepts version 2, and librdkafka knows no later one. Without it librdkafka
// would not notice that a log was truncated.
func New(options ...kfake.Opt) (*kfake.Cluster, error) {
	c, err := kfake.NewCluster(options...)
	if err != nil {
		return nil, err
	}
	if err := acceptOldEpochs(c); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// acceptOldEpochs makes a cluster accept version 2 of OffsetForLeaderEpoch. The reply is that of
// version 3, which has the same form.
func acceptOldEpochs(c *kfake.Cluster) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()[0]))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	versions, err := kmsg.NewPtrApiVersionsRequest().RequestWith(ctx, client)
	if err != nil {
		return fmt.Errorf("query the versions of requests: %w", err)
	}
	const epochs = int16(kmsg.OffsetForLeaderEpoch)
	keys := slices.Clone(versions.ApiKeys)
	for i := range keys {
		if keys[i].ApiKey == epochs {
			keys[i].MinVersion = 2
		}
	}
	c.ControlKey(int16(kmsg.ApiVersions), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if r.GetVersion() > versions.Version { // the broker answers that itself, and the client asks again
			return nil, nil, false
		}
		reply := *versions
		reply.ApiKeys, reply.Version = keys, r.GetVersion()
		return &reply, nil, true
	})
	c.ControlKey(epochs, func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if q := r.(*kmsg.OffsetForLeaderEpochRequest); q.Version == 2 {
			q.Version, q.ReplicaID = 3, -1
		}
		return nil, nil, false
	})
	return nil
}
