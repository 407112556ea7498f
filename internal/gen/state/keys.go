package state

import (
	"encoding/hex"

	"github.com/idemgen/idemgen/internal/gen/definition"
	"github.com/idemgen/idemgen/internal/gen/model"
)

// keys returns the definitions of every event that stores a key, in spec order.
func keys(s *model.Service) []Key {
	var all []Key
	for _, t := range s.Topics {
		for _, e := range t.Events {
			if e.Key == nil || e.Key.Offset {
				continue
			}
			k := Key{Topic: t.Name, Event: e.Name, Space: hex.EncodeToString(e.Key.Space[:]), Window: e.Key.Window}
			k.Parts = definition.Parts(e.Key.Parts)
			if e.Key.SamePartition {
				k.Copies = "same_partition"
			}
			all = append(all, k)
		}
	}
	return all
}
