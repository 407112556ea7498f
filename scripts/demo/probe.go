package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/scripts/internal/audit"
)

// probe asks Postgres, the broker and the processes, and puts what they say on the board.
type probe struct {
	show    *show
	auditor *audit.Auditor
	conn    *pgx.Conn
	told    map[audit.Finding]bool // on the screen
}

func newProbe(s *show) (*probe, error) {
	service, err := audit.ReadSpec(example)
	if err != nil {
		return nil, err
	}
	return &probe{show: s, auditor: audit.NewAuditor(service, audit.AddPayment), told: map[audit.Finding]bool{}}, nil
}

// run asks until ctx ends: where everybody is four times a second, the rest each second.
func (p *probe) run(ctx context.Context) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		p.hear()
		p.query(ctx, p.positions)
		if n%4 == 0 {
			p.query(ctx, p.measure)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	if p.conn != nil {
		_ = p.conn.Close(context.WithoutCancel(ctx)) // nothing hangs on it
	}
}

// query asks Postgres something. An error is an outage, and is shown.
func (p *probe) query(ctx context.Context, ask func(context.Context) error) {
	limited, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	err := func() (err error) {
		if p.conn == nil || p.conn.IsClosed() {
			if p.conn, err = pgx.Connect(limited, p.show.postgres.URL()); err != nil {
				return errors.New("no connection")
			}
		}
		return ask(limited)
	}()
	if ctx.Err() == nil {
		p.show.board.change(func(s *state) {
			s.outage = ""
			if err != nil {
				s.outage = cmp.Or(err.Error(), "no answer")
			}
		})
	}
}

// hear asks the operating system for the consumers, and the broker for the ends of its log.
func (p *probe) hear() {
	members, lines, err := p.show.crew.report()
	if err != nil {
		p.show.fail(err)
	}
	ends := p.show.broker.Ends(topic)
	p.show.board.change(func(s *state) {
		s.consumers = members
		s.partitions = slices.Grow(s.partitions, len(ends))[:len(ends)]
		for i, end := range ends {
			s.partitions[i].end = end
		}
	})
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		pid := members[slices.IndexFunc(members, func(m member) bool { return m.name == name })].pid
		for _, line := range lines[name] {
			if number, said := about(line); said != nil {
				said.pid = pid
				p.show.board.change(func(s *state) {
					if number < len(s.partitions) {
						s.partitions[number].logged = *said
					}
				})
			}
			for _, w := range words {
				if m := w.logged.FindSubmatch(line); m != nil {
					p.show.board.say(0, "%s"+w.said, name, m[1], m[2])
				}
			}
		}
	}
}

// ofPartition is a line about a partition's state, and why it makes no progress.
var ofPartition = regexp.MustCompile(` partition(?: makes no progress)? consumer=.* partition=(\d+) state=(\w+)(?: reason=(".*"|\S+))?`)

// about returns the partition that a line of a log is about, and what it says; nil if it is about
// no partition.
func about(line []byte) (partition int, said *logged) {
	m := ofPartition.FindSubmatch(line)
	if m == nil {
		return 0, nil
	}
	partition, err := strconv.Atoi(string(m[1]))
	if err != nil {
		return 0, nil
	}
	why, err := strconv.Unquote(string(m[3]))
	if err != nil {
		why = string(m[3])
	}
	return partition, &logged{state: string(m[2]), why: strings.ReplaceAll(why, "\n", "; ")}
}

// words are how the screen says what a consumer logs.
var words = []struct {
	logged *regexp.Regexp
	said   string
}{
	{regexp.MustCompile(`a transaction whose reply was lost had committed.* partition=(\d+) .*next=(\d+)`), " finds in the ledger: partition %s is committed up to %s"},
	{regexp.MustCompile(`dead letter .* partition=(\d+) .*reason="?([^"]*)`), ": dead letter in partition %s: %s"},
}

// taker is the process that a row of the ledger names, for people.
var taker = regexp.MustCompile(`process (\d+)`)

// positions asks the ledger how far each partition is, and who took it over last.
func (p *probe) positions(ctx context.Context) error {
	rows, err := p.conn.Query(ctx, `
SELECT s.partition, tail.next, coalesce(mark.info, '') FROM idem_stream s,
  LATERAL (SELECT next FROM idem_ledger l WHERE l.stream = s.stream ORDER BY seq DESC LIMIT 1) AS tail,
  LATERAL (SELECT info FROM idem_ledger l WHERE l.stream = s.stream AND kind <> 'b' ORDER BY seq DESC LIMIT 1) AS mark
ORDER BY s.partition`)
	if err != nil {
		return err
	}
	var number int
	var next int64
	var info string
	taken := map[string][]string{}
	_, err = pgx.ForEachRow(rows, []any{&number, &next, &info}, func() error {
		p.show.board.change(func(s *state) {
			if number >= len(s.partitions) {
				return
			}
			at := &s.partitions[number]
			at.position, at.end = next, max(next, at.end)
			for _, m := range s.consumers {
				if of := taker.FindStringSubmatch(info); of != nil && of[1] == fmt.Sprint(m.pid) && m.pid != at.owner.pid {
					taken[m.name] = append(taken[m.name], fmt.Sprint(number))
					at.owner = m
				}
			}
		})
		return nil
	})
	for _, owner := range slices.Sorted(maps.Keys(taken)) {
		what := "partition"
		if len(taken[owner]) > 1 {
			what += "s"
		}
		p.show.board.say(0, "%s took over %s %s", owner, what, strings.Join(taken[owner], ", "))
	}
	return err
}

// measure takes the figures of a second, and audits.
func (p *probe) measure(ctx context.Context) error {
	_, log, again := p.show.producer.acknowledged()
	f := figures{again: again}
	var passed int64
	err := p.conn.QueryRow(ctx, `
SELECT (SELECT count(*) FROM orders) + (SELECT count(*) FROM order_items) + (SELECT count(*) FROM payments),
       (SELECT count(*) FROM audit_journal), (SELECT count(*) FROM idem_dead_letter),
       (SELECT coalesce(sum(next), 0) FROM idem_stream s,
          LATERAL (SELECT next FROM idem_ledger l WHERE l.stream = s.stream ORDER BY seq DESC LIMIT 1) AS tail)`).Scan(&f.rows, &f.effects, &f.letters, &passed)
	if err != nil {
		return err
	}
	found, err := p.auditor.Effects(ctx, p.conn, log)
	if err != nil {
		return err
	}
	for _, f := range found {
		if !p.told[f] {
			p.show.board.say('!', "%v", f)
		}
		p.told[f] = true
	}
	f.lost, f.doubled = audit.Count(found, audit.Lost), audit.Count(found, audit.Doubled)
	f.recognized, f.at = passed-f.effects-f.letters, p.show.board.now()
	p.show.board.change(func(s *state) {
		for _, at := range s.partitions {
			f.produced += at.end
		}
		if past := (f.at - s.at).Seconds(); s.at > 0 {
			f.second.produced, f.second.rows = float64(f.produced-s.produced)/past, float64(f.rows-s.rows)/past
		}
		s.figures = f
	})
	return nil
}
