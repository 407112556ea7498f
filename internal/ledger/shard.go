package ledger

import "fmt"

// Shard says which of a consumer's databases one is, and how many there are. It has the partitions
// whose number modulo Of is Number.
type Shard struct{ Number, Of int32 }

func (s Shard) String() string { return fmt.Sprintf("shard %d of %d", s.Number, s.Of) }

// Has reports whether the shard applies a partition.
func (s Shard) Has(partition int32) bool { return partition%s.Of == s.Number }
