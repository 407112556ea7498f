package shop

import "testing"

// Orders stay in their partitions when there are more of them, to which new orders go.
func TestOrdersStayWhereTheyAre(t *testing.T) {
	m := New(1, 2)
	homes := map[string]int32{}
	for range 100 {
		e := m.Placed("")
		homes[string(e.Key)] = e.Partition
	}
	m.Grow(5)
	for range 200 {
		if e := m.Shipped(); e.Partition != homes[string(e.Key)] {
			t.Fatalf("order %s went from partition %d to %d", e.Key, homes[string(e.Key)], e.Partition)
		}
	}
	used := map[int32]bool{}
	for range 100 {
		e := m.Placed("")
		homes[string(e.Key)] = e.Partition
		used[e.Partition] = true
	}
	if len(used) != 5 {
		t.Errorf("new orders are in partitions %v", used)
	}
	m.Grow(6)
	for range 200 {
		if e := m.Paid(); e.Partition != homes[string(e.Key)] {
			t.Fatalf("order %s went from partition %d to %d", e.Key, homes[string(e.Key)], e.Partition)
		}
	}
}
