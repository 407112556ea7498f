package engine

import (
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Health tells of records that wait although nothing says why.
func TestHealthTellsOfRecordsThatWait(t *testing.T) {
	service := &wire.Service{Limits: wire.Limits{BatchTimeout: time.Minute}}
	p := &Partition{process: &Process{Service: service}, id: idemtype.Partition{Topic: "t", Number: 3}}
	p.waiting(true)
	if err := p.Health(time.Now()); err != nil {
		t.Errorf("records that wait for no time: %v", err)
	}
	if err := p.Health(time.Now().Add(3 * time.Minute)); err == nil {
		t.Errorf("records that wait for three minutes: %v", err)
	}
	p.progressed()
	if err := p.Health(time.Now()); err != nil {
		t.Errorf("after the position moved: %v", err)
	}
}
