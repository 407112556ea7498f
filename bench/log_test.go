package main

import (
	"encoding/json"
	"fmt"
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

// Records of each account are in every partition, so that all partitions write the same rows.
func TestEveryPartitionBooksOnEveryAccount(t *testing.T) {
	l := logs(0, 400, 0)[2]
	account := regexp.MustCompile(`"account_id":"([^"]+)"`)
	met := map[string]int{}
	for i := range l.records {
		m := l.message(i)
		if !json.Valid(m.Value) {
			t.Fatalf("record %d: %s", i, m.Value)
		}
		met[fmt.Sprint(account.FindSubmatch(m.Value)[1], m.Partition)]++
	}
	for at, n := range met {
		if len(met) != accounts*partitions || n != l.records/len(met) {
			t.Fatalf("%d pairs of account and partition, %s %d times", len(met), at, n)
		}
	}
}
