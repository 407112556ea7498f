package idem

import (
	"cmp"
	"errors"
	"time"

	"github.com/idemgen/idemgen/internal/process"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine"
	"github.com/idemgen/idemgen/runtime/internal/report"
)

// report starts to report this process in the database. The returned function ends it.
func (c *Consumer) report() (stop func()) {
	w := report.Writer{
		Consumer: c.service.Consumer, Name: engine.Who(), Version: process.Version(),
		Connect: c.process.Pool.Report, Snapshot: c.snapshot, Every: c.reports, Log: c.settings.log,
	}
	return w.Start()
}

// snapshot is what this process reports.
func (c *Consumer) snapshot() (r process.Report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.Group = c.settings.group
	if p := c.whole(); p != nil {
		r.Problems = append(r.Problems, process.Problem{Code: p.Code, Since: p.Since, Reason: p.Reason, Do: p.Do})
	}
	late := map[Partition]*idemtype.Problem{}
	if c.process.Calls != nil {
		for _, p := range c.process.Calls.Late() {
			late[Partition{Topic: p.Topic, Number: p.Partition}] = &p
		}
	}
	now := time.Now()
	for id, p := range c.assigned {
		state, why := p.Report(now)
		at := p.Lag().Read(now)
		seen := process.Assigned{
			Topic: id.Topic, Partition: id.Number, State: state, Position: at.Position, End: at.End, Lag: at.Records, LagSeconds: at.Age.Round(time.Millisecond).Seconds(),
			Applied: at.Counts.Applied, Duplicates: at.Counts.Duplicates, Dead: at.Counts.Dead + at.Counts.Conflicts,
		}
		if why = cmp.Or(why, late[id]); why != nil {
			seen.Code, seen.Since, seen.Reason, seen.Do = why.Code, why.Since, why.Reason, why.Do
			if h, is := errors.AsType[*HaltedError](why.Err); is {
				halted(&seen, h)
			}
		}
		r.Partitions = append(r.Partitions, seen)
	}
	return r
}

// halted adds what a page needs of a halt.
func halted(p *process.Assigned, h *HaltedError) {
	p.Do = ""
	for _, w := range h.Ways {
		w.Consumer, w.Topic, w.Partition = "", "", 0 // those of the row
		p.Ways = append(p.Ways, w)
	}
}
