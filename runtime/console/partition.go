package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/halt"
)

// halted is a partition that makes no progress, with the ways out.
type halted struct {
	partition
	Problem *operate.Problem // nil if it has none of its own
	Ways    []halt.Way
	Same    []operate.Status // partitions with the same cause, and this one
	Acts    []operate.Act    // of operators, in this partition
}

// Others is how many more partitions have the same cause.
func (h *halted) Others() int { return max(0, len(h.Same)-1) }

// Soon is an act of the last moments that the owner may not have seen yet; nil if there is none.
func (h *halted) Soon(now time.Time) *operate.Act {
	if len(h.Acts) > 0 && now.Sub(h.Acts[0].At) < 20*time.Second && (h.Severity == operate.Urgent || h.Reported.Paused() && h.Acts[0].What != "pause") {
		return &h.Acts[0]
	}
	return nil
}

// one returns the partition that a request names, as the state has it.
func (c *console) one(q *request) (*halted, error) {
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
	i := slices.IndexFunc(s.all, is)
	if i < 0 {
		return nil, fmt.Errorf("%v is not known", name)
	}
	h := &halted{partition: s.all[i]}
	for i := range s.Problems {
		p := &s.Problems[i]
		if p.Subject == operate.OfPartitions && slices.ContainsFunc(p.Partitions, func(t operate.Status) bool { return is(partition{Status: t}) }) {
			h.Problem, h.Same = p, p.Partitions
		}
	}
	if r := h.Reported; r.Unknown() == "" {
		h.Ways = r.Ways
	}
	acts, err := operate.History(q.r.Context(), c.read, name.Consumer, false, 200)
	for _, a := range acts {
		if a.Operator && a.Topic == name.Topic && (a.Partition == name.Partition || a.Partition < 0) && len(h.Acts) < 5 {
			h.Acts = append(h.Acts, a)
		}
	}
	return h, err
}

// partition shows a partition and, if it makes no progress, the ways out.
func (c *console) partition(q *request) {
	h, err := c.one(q)
	if err != nil {
		c.failed(q, err)
		return
	}
	c.render(q, "partition.html", shown{
		Title: fmt.Sprintf("%s %s/%d", h.State, h.Topic, h.Partition), Tab: "overview", Refresh: true,
		Command: "idemgen stream list --consumer " + quoted(h.Consumer), Data: h,
	})
}

// confirmation is what a way out would do.
type confirmation struct {
	*halted
	Way     halt.Way // of the partition that is named
	All     bool     // for all partitions that are halted for the same reason
	Changes []operate.Change
}

// Former is how many open letters, parked records included, will be of a topic that was made
// again.
func (d *confirmation) Former() (n int64) {
	if d.Way.Code != halt.TopicRecreated {
		return 0
	}
	if !d.All {
		return d.OpenDeadLetters
	}
	for i := range d.Same {
		n += d.Same[i].OpenDeadLetters
	}
	return n
}

// chosen are the ways out that a request names: the one of its partition, which must be one that
// the partition names now, or with "all" that of each partition with the same cause.
func (c *console) chosen(q *request) (*confirmation, []halt.Way, error) {
	h, err := c.one(q)
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(h.Ways, func(w halt.Way) bool { return w.String() == q.text("way") })
	if i < 0 {
		return nil, nil, errors.New("this way out is no longer available: reload the page of the partition")
	}
	d := &confirmation{halted: h, Way: h.Ways[i], All: q.text("all") != ""}
	if !d.All {
		return d, []halt.Way{d.Way}, nil
	}
	var ways []halt.Way
	for _, p := range h.Same {
		all := p.Reported.Ways
		if len(all) != len(h.Ways) || slices.ContainsFunc(ways, func(w halt.Way) bool { return w.String() == all[i].String() }) {
			continue // one command may be about all partitions
		}
		ways = append(ways, all[i])
	}
	return d, ways, nil
}

// take takes ways out, first without appending: if one is rejected, none is taken.
func take(ctx context.Context, db operate.DB, ways []halt.Way, by operate.By) (all []operate.Change, err error) {
	for _, w := range ways {
		dry := by
		dry.DryRun = true
		changes, err := operate.Take(ctx, db, w, dry)
		if err != nil {
			return nil, err
		}
		all = append(all, changes...)
	}
	if by.DryRun {
		return all, nil
	}
	all = nil
	for _, w := range ways {
		changes, err := operate.Take(ctx, db, w, by)
		all = append(all, changes...)
		if err != nil {
			return all, fmt.Errorf("%w; %d rows were appended before this error", err, len(all))
		}
	}
	return all, nil
}

// confirmAct shows the rows that a way out would append.
func (c *console) confirmAct(q *request) {
	d, ways, err := c.chosen(q)
	if err == nil {
		d.Changes, err = take(q.r.Context(), c.read, ways, operate.By{Operator: q.user.Name, Reason: "preview", DryRun: true})
	}
	if err != nil {
		c.failed(q, err)
		return
	}
	var commands []string
	for _, w := range ways {
		commands = append(commands, w.String())
	}
	c.render(q, "act.html", shown{Title: "Confirm", Tab: "overview", Command: strings.Join(commands, " && "), Data: d})
}

// act takes a way out.
func (c *console) act(q *request) {
	d, ways, err := c.chosen(q)
	var changes []operate.Change
	if err == nil {
		changes, err = take(q.r.Context(), c.write, ways, q.by())
	}
	if err != nil {
		c.failed(q, err)
		return
	}
	c.log.Info("an operator acted", "user", q.user.Name, "reason", q.text("reason"), "command", d.Way.String(), "rows", len(changes))
	c.recent.forget()
	what := fmt.Sprintf("%s/%d: %s", d.Topic, d.Partition, changes[0].Effect)
	if d.All {
		what = fmt.Sprintf("%d partitions of %s: %s", len(ways), d.Topic, changes[0].Effect)
	}
	q.back("./", query("done", what, "at", time.Now().UTC().Format(time.RFC3339)))
}
