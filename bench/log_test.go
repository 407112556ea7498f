package main

import (
	"encoding/json"
	"regexp"
	"testing"
)

// Every record has the size that docs/benchmarks.md says, and one key, and those of a device are
// in one partition.
func TestRecordsAreAsDocumented(t *testing.T) {
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	l := logs(5000, 0, 0)[0]
	keys, partition := map[string]bool{}, map[string]int32{}
	for i := range l.records {
		m := l.message(i)
		if len(m.Value) != 261 || !json.Valid(m.Value) {
			t.Fatalf("record %d has %d bytes: %s", i, len(m.Value), m.Value)
		}
		key := string(m.Headers[0].Value)
		if !uuid.MatchString(key) || keys[key] {
			t.Fatalf("record %d has the key %s", i, key)
		}
		keys[key] = true
		if p, ok := partition[string(m.Key)]; ok && p != m.Partition {
			t.Fatalf("device %s is in partitions %d and %d", m.Key, p, m.Partition)
		}
		partition[string(m.Key)] = m.Partition
	}
	if len(partition) != devices {
		t.Errorf("%d devices, want %d", len(partition), devices)
	}
}
