package console

import (
	"errors"
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/operate"
)

// halted is a partition that makes no progress, with the ways out.
type halted struct {
	partition
	Advice operate.Advice
	Ways   []operate.Way
	Others int           // partitions of the topic with the same cause
	Acts   []operate.Act // of operators, in this partition
}

// troubled returns the partition that a request names, as the state has it.
func (c *console) troubled(q *request) (*halted, error) {
	name, err := q.name()
	if err != nil {
		return nil, err
	}
	s, _, err := c.snapshot(q.r.Context())
	if err != nil {
		return nil, err
	}
	is := func(p partition) bool {
		return p.Consumer == name.Consumer && p.Topic == name.Topic && p.Partition == name.Partition
	}
	var h *halted
	for _, t := range s.Trouble {
		if i := slices.IndexFunc(t.Partitions, is); i >= 0 {
			h = &halted{partition: t.Partitions[i], Others: len(t.Partitions) - 1}
		}
	}
	if h == nil {
		return nil, fmt.Errorf("%v makes progress: there is nothing to do", name)
	}
	r := h.Reported
	if r == nil {
		return h, nil
	}
	h.Advice = operate.AdviceOn(r.Code)
	for _, command := range r.Ways {
		way, err := operate.ParseWay(command)
		if err != nil {
			c.log.Error("a halted partition names a command that the console does not know", "err", err)
			continue
		}
		h.Ways = append(h.Ways, way)
	}
	acts, err := operate.History(q.r.Context(), c.read, name.Consumer, false, 200)
	for _, a := range acts {
		if a.Operator && a.Topic == name.Topic && (a.Partition == name.Partition || a.Partition < 0) && len(h.Acts) < 5 {
			h.Acts = append(h.Acts, a)
		}
	}
	return h, err
}

// partition shows a partition that makes no progress, and the ways out.
func (c *console) partition(q *request) {
	h, err := c.troubled(q)
	if err != nil {
		c.failed(q, err)
		return
	}
	c.render(q, "partition.html", shown{
		Title: fmt.Sprintf("%s %s/%d", h.State, h.Topic, h.Partition), Tab: "overview", Refresh: true,
		Command: "idemgen stream list --consumer " + h.Consumer, Data: h,
	})
}

// confirmation is what a way out would do.
type confirmation struct {
	*halted
	Way     *operate.Way
	Changes []operate.Change
}

// way returns the way out that a request names: one that the partition names now.
func (c *console) way(q *request) (*halted, operate.Way, error) {
	h, err := c.troubled(q)
	if err != nil {
		return nil, operate.Way{}, err
	}
	for _, w := range h.Ways {
		if w.Command == q.text("way") {
			return h, w, nil
		}
	}
	return nil, operate.Way{}, errors.New("the partition does not name this way out any more: look at it again")
}

// confirmAct shows the row that a way out would append.
func (c *console) confirmAct(q *request) {
	h, way, err := c.way(q)
	var changes []operate.Change
	if err == nil {
		changes, err = way.Run(q.r.Context(), c.read, operate.By{Operator: q.user.Name, Reason: "preview", DryRun: true})
	}
	if err != nil {
		c.failed(q, err)
		return
	}
	c.render(q, "act.html", shown{Title: "Confirm", Tab: "overview", Command: way.Command, Data: confirmation{h, &way, changes}})
}

// act takes a way out.
func (c *console) act(q *request) {
	_, way, err := c.way(q)
	var changes []operate.Change
	if err == nil {
		changes, err = way.Run(q.r.Context(), c.write, q.by())
	}
	if err != nil {
		c.failed(q, err)
		return
	}
	c.log.Info("an operator acted", "user", q.user.Name, "reason", q.text("reason"), "command", way.Command, "rows", len(changes))
	c.recent.forget()
	q.back("history", query("done", changes[0].Effect))
}
