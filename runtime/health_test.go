package idem

import (
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Health tells of records that wait although nothing says why.
func TestHealthTellsOfRecordsThatWait(t *testing.T) {
	c := &Consumer{service: wire.Service{Limits: wire.Limits{BatchTimeout: time.Minute}}, workers: map[Partition]*worker{}}
	w := &worker{c: c, id: Partition{Topic: "t", Number: 3}}
	c.workers[w.id] = w
	w.waiting(true)
	if err := c.Health(); err != nil {
		t.Errorf("records that wait for no time: %v", err)
	}
	w.since = w.since.Add(-3 * time.Minute)
	if err := c.Health(); err == nil || !strings.Contains(err.Error(), "t/3") {
		t.Errorf("records that wait for three minutes: %v", err)
	}
	w.progressed()
	if err := c.Health(); err != nil {
		t.Errorf("after the position moved: %v", err)
	}
}
