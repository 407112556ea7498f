package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// readingsGroup is the consumer of bench/readings.
const readingsGroup = "bench-readings"

// groups are those of the contenders: the consumers of the specs, and that of bench/peers.
var groups = []string{readingsGroup, "bench-payments", "bench-devices", "bench-accounts", "bench-notices", "peers"}

// forgetGroups makes the broker forget their committed offsets, so that the next run begins at
// the first record.
func forgetGroups(ctx context.Context, broker string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(broker))
	if err != nil {
		return err
	}
	defer client.Close()
	request := kmsg.NewPtrDeleteGroupsRequest()
	request.Groups = groups
	for _, shard := range client.RequestSharded(ctx, request) {
		if shard.Err != nil {
			return fmt.Errorf("delete groups: %w", shard.Err)
		}
		for _, g := range shard.Resp.(*kmsg.DeleteGroupsResponse).Groups {
			if err := kerr.ErrorForCode(g.ErrorCode); err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
				return fmt.Errorf("delete group %s: %w", g.Group, err)
			}
		}
	}
	return nil
}
