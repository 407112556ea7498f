package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"testing"
)

// Every record has the size that docs/benchmarks.md says, and one key, and those of a device or an
// account are in one partition.
func TestRecordsAreAsDocumented(t *testing.T) {
	all := logs(5000, 0, 0)
	for name, size := range map[string]int{"readings": 261, "payments": 251} {
		l := all[slices.IndexFunc(all, func(l log) bool { return l.name == name })]
		t.Run(name, func(t *testing.T) { testRecords(t, l, size) })
	}
}

func testRecords(t *testing.T, l log, size int) {
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	keys, partition := map[string]bool{}, map[string]int32{}
	for i := range l.records {
		m := l.message(i)
		if len(m.Value) != size || !json.Valid(m.Value) {
			t.Fatalf("record %d has %d bytes: %s", i, len(m.Value), m.Value)
		}
		key := string(m.Headers[0].Value)
		if !uuid.MatchString(key) || keys[key] {
			t.Fatalf("record %d has the key %s", i, key)
		}
		keys[key] = true
		if p, ok := partition[string(m.Key)]; ok && p != m.Partition {
			t.Fatalf("record key %s is in partitions %d and %d", m.Key, p, m.Partition)
		}
		partition[string(m.Key)] = m.Partition
	}
	if len(partition) != devices {
		t.Errorf("%d record keys, want %d", len(partition), devices)
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
