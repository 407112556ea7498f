package engine_test

import (
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/proof/longtest"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

var (
	schedulesFor = flag.Duration("schedules", 0, "how long TestSchedules plays; 0 is for a fixed number of schedules")
	scheduleSeed = flag.Int64("seed", 0, "the schedule that TestSchedules plays and prints or, with -schedules, the first one; 0 is for many")
)

// simulation plays schedules, one after the other: two owners, each with both partitions of a
// topic, a log of their records, and a database, joined by a network that is steered. Everything
// that a schedule chooses comes from its seed.
type simulation struct {
	t      *testing.T
	db     *pgxpool.Pool
	n      *network
	owners [2]*rig.Consumer
	calls  handlers

	// Of one schedule.
	seed    uint64
	random  *rand.Rand
	log     [2][]posting
	seats   []*seat
	steps   []string
	wrong   []string
	takes   int   // take-overs that may still begin
	trouble int   // disturbances that may still come
	harmed  *seat // whose link was cut last
	again   bool  // its next append is to be cut, too
	rewinds bool  // operators may
	seals   bool  // generations may be sealed
}

func newSimulation(t *testing.T) *simulation {
	s := &simulation{t: t, db: idemtest.Migrated(t, rig.RuntimeFiles(t), filepath.Join("testdata", "simulation"))}
	s.n = newNetwork(s.db)
	through := s.n.through(t)
	t.Cleanup(s.n.close)
	for i := range s.owners {
		s.owners[i] = rig.Service{
			Policy:  wire.FailurePolicy{Retries: 1, InitialBackoff: time.Millisecond, MaxBackoff: time.Millisecond},
			Options: []idem.Option{idem.WithLogger(slog.New(slog.DiscardHandler))},
			Edit: func(w *wire.Service) {
				// Nothing depends on how fast this machine is.
				w.Limits.BatchTimeout, w.Limits.EventTimeout = 4*time.Minute, 2*time.Minute
				w.Limits.StatementTimeout, w.Limits.LockTimeout = 2*time.Minute, time.Minute
				w.Topics[0].Chain = w.Topics[0].Window
				w.Topics[0].NewPlan = func() wire.Plan { return &postings{handlers: &s.calls} }
			},
		}.Consumer(t, through)
		s.owners[i].LimitFilters(0) // they are built in the background
	}
	return s
}

// play plays one schedule.
func (s *simulation) play(seed uint64) {
	s.seed, s.random = seed, rand.New(rand.NewPCG(seed, 0))
	s.rewinds = s.random.IntN(3) == 0
	s.log = draw(s.random, fmt.Sprintf("s%d", seed), s.rewinds)
	s.steps, s.wrong, s.seats, s.again = nil, nil, nil, false
	if s.seals = s.random.IntN(5) == 0; s.seals {
		s.reopen()
	}
	s.calls = handlers{name: fmt.Sprintf(" -- schedule %d", seed), flaky: map[string]bool{}}
	for owner := range s.owners {
		for at := range s.log {
			s.seats = append(s.seats, &seat{owner: owner, at: int32(at)})
		}
	}
	s.takes, s.trouble = 3+s.random.IntN(4), 1+s.random.IntN(5)
	s.steer(true)
	stays := []float64{0, 0.5, 0.9}[s.random.IntN(3)]
	same := func() bool { return s.random.Float64() < stays }
	var last any
	for range 400 {
		if s.again && s.harmed.commits() && s.random.IntN(3) == 0 {
			s.cut(s.harmed)
			s.rest()
		} else if s.trouble > 0 && s.random.IntN(8) == 0 {
			s.disturb()
		} else if last = s.advance(last, same, true); last == nil {
			break
		}
	}
	for s.advance(nil, same, false) != nil { // no call begins any more
	}
	s.steer(false)
	s.finish()
	s.wrong = append(s.wrong, audit(s.t, s.db, s.log, s.rewinds)...)
	s.clean()
}

func (s *simulation) steer(on bool) {
	s.n.mu.Lock()
	defer s.n.mu.Unlock()
	s.n.steered = on
}

// note notes a step for people.
func (s *simulation) note(format string, args ...any) {
	s.steps = append(s.steps, fmt.Sprintf(format, args...))
}

func (s *simulation) complain(format string, args ...any) {
	s.note("WRONG: "+format, args...)
	s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
}

// fail ends the test with all that people need.
func (s *simulation) fail() {
	s.n.close() // a task that waits for an answer would hold up the end of its consumer
	s.t.Fatalf("schedule %d (-seed %d repeats it):\n%s\n\nits steps:\n%s\n\nits log:\n%v",
		s.seed, s.seed, strings.Join(s.wrong, "\n"), strings.Join(s.steps, "\n"), s.log)
}

// advance takes one step: of the same task or link as the last one, if same says so and it can go
// on, or of any. It returns what it moved, nil if nothing can move.
func (s *simulation) advance(last any, same func() bool, starts bool) any {
	type step struct {
		of any
		do func()
	}
	var all []step
	s.n.mu.Lock()
	for _, p := range s.seats {
		switch {
		case p.task == nil && starts:
			if do := s.start(p); do != nil {
				all = append(all, step{p, do})
			}
		case p.task == nil || p.task.link == nil:
		case len(p.task.link.request) > 0:
			all = append(all, step{p, func() { s.deliver(p.name(), p.task.link) }})
		case p.task.link.s.owed == 0:
			all = append(all, step{p, func() { s.answer(p) }})
		}
	}
	for i, l := range s.n.late {
		switch {
		case len(l.request) > 0:
			all = append(all, step{l, func() { s.deliver(fmt.Sprintf("late %d", i), l) }})
		case l.s.owed == 0:
			all = append(all, step{l, func() { s.end(l) }})
		}
	}
	waits := s.n.owing()
	s.n.mu.Unlock()
	switch {
	case len(all) == 0 && waits: // for a lock of somebody else, or for the end of a deadlock
		time.Sleep(time.Millisecond)
		s.rest()
		return s
	case len(all) == 0:
		return nil
	}
	chosen := all[s.random.IntN(len(all))]
	if same() {
		for _, c := range all {
			if c.of == last {
				chosen = c
			}
		}
	}
	chosen.do()
	s.rest()
	return chosen.of
}

// rest waits until nothing moves, and settles the calls that are over.
func (s *simulation) rest() {
	if err := s.n.rest(s.t); err != nil {
		s.complain("%v", err)
		s.fail()
	}
	for _, p := range s.seats {
		if p.task != nil && p.task.over {
			p.task = nil
			p.done()
		}
	}
}

// cut cuts a task's link. A request that was not delivered is lost, or comes late. Often the next
// append is cut, too: which attempt was found matters only if there are two.
func (s *simulation) cut(p *seat) {
	lost := s.random.IntN(2) == 0
	s.harmed, s.again = p, s.random.IntN(2) == 0
	s.n.mu.Lock()
	defer s.n.mu.Unlock()
	l := p.task.link
	s.note("%s is cut, with a request on its way: %v, lost: %v", p.name(), len(l.request) > 0, lost)
	if lost {
		l.request = nil
	}
	s.n.running = p.task
	l.drop()
}

const (
	operatorSQL = `INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, writer, epoch, def, parts, window_seq, info)
SELECT stream, seq + 1, gen_random_uuid(), next, greatest(0, next - %[2]d), CASE WHEN %[2]d > 0 AND next > 0 THEN 'r' ELSE 'o' END, 'o', epoch, def, parts, window_seq, 'operator test'
FROM idem_ledger WHERE stream = (SELECT stream FROM idem_stream WHERE partition = %[1]d) ORDER BY seq DESC LIMIT 1`
	sealSQL = `SELECT idem_keys_seal(consumer, gen, idem_keys_prepare(), keep) FROM idem_key_gen WHERE sealed_at IS NULL`
)

// disturb does harm to somebody.
func (s *simulation) disturb() {
	s.trouble--
	switch p := s.seats[s.random.IntN(len(s.seats))]; s.random.IntN(12) {
	case 0:
		back := 0
		if s.rewinds {
			back = s.random.IntN(4)
		}
		s.request(fmt.Sprintf(operatorSQL, p.at, back))
	case 1, 2:
		if s.seals {
			s.request(sealSQL)
		}
	case 3:
		s.note("%c crashes", 'A'+p.owner)
		for _, o := range s.seats {
			if o.owner != p.owner {
				continue
			}
			o.writer = nil
			o.crashed = o.task != nil
			for o.task != nil {
				s.cut(o)
				s.rest()
			}
		}
	default: // as a rule when it matters most
		if p.commits() || p.task != nil && s.random.IntN(4) == 0 {
			s.cut(p)
		} else {
			s.trouble++
		}
	}
	s.rest()
}

// request puts a statement of somebody else on its way.
func (s *simulation) request(sql string) {
	s.n.mu.Lock()
	defer s.n.mu.Unlock()
	l := &link{n: s.n}
	if err := l.connect(make([]byte, 8)); err != nil {
		s.t.Fatal(err)
	}
	l.request, l.cut, l.text = simple(sql), true, sql[:40]
	s.n.late = append(s.n.late, l)
}

// finish lets the first owner apply the rest, without any trouble.
func (s *simulation) finish() {
	for at := range s.log {
		p := s.seats[at]
		s.take(p)
		s.rest()
		if p.writer == nil {
			s.complain("%s cannot be taken in the end", p.name())
			continue
		}
		for tries := 0; p.writer != nil && p.writer.Next() < int64(len(s.log[at])); tries++ {
			if tries > 50 {
				s.complain("%s does not end", p.name())
				break
			}
			s.apply(p, p.writer.Next(), int64(len(s.log[at])))
			s.rest()
		}
	}
}

// clean removes all that the schedule left.
func (s *simulation) clean() {
	idemtest.Exec(s.t, s.db, `WITH a AS (DELETE FROM idem_ledger), b AS (DELETE FROM idem_stream), c AS (DELETE FROM idem_keys), d AS (DELETE FROM idem_dead_letter),
e AS (DELETE FROM account) DELETE FROM entry`)
	if s.seals {
		s.reopen()
		idemtest.Exec(s.t, s.db, `UPDATE idem_key_gen SET sealed_at = sealed_at - interval '1 day'`)
		idemtest.Exec(s.t, s.db, `SELECT idem_keys_forget(consumer, gen) FROM idem_key_gen WHERE sealed_at IS NOT NULL`)
	}
}

// reopen lets both owners begin with new sessions, which know no generations.
func (s *simulation) reopen() {
	for _, c := range s.owners {
		c.Close()
	}
}

// Whatever order the statements of two owners, their answers and their ends come in, each event
// takes effect once. go test -run TestSchedules -seed n repeats a schedule.
func TestSchedules(t *testing.T) {
	t.Parallel()
	first, n, end := max(1, *scheduleSeed), int64(200), time.Time{}
	switch {
	case *schedulesFor > 0:
		n, end = 1<<40, time.Now().Add(*schedulesFor)
	case *scheduleSeed != 0:
		n = 1
	case longtest.Wanted():
		n = 10_000
	case testing.Short():
		n = 60
	}
	var played, steps atomic.Int64
	var failed atomic.Bool
	began := time.Now()
	t.Run("lanes", func(t *testing.T) {
		for range min(n, 4) {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				s := newSimulation(t)
				t.Cleanup(func() { failed.CompareAndSwap(false, t.Failed()) })
				for !failed.Load() && (end.IsZero() || time.Now().Before(end)) {
					i := played.Add(1) - 1
					if i >= n {
						played.Add(-1)
						return
					}
					s.play(uint64(first + i))
					steps.Add(int64(len(s.steps)))
					if len(s.wrong) > 0 {
						s.fail()
					}
					if n == 1 {
						t.Log(strings.Join(s.steps, "\n"))
					}
				}
			})
		}
	})
	took := time.Since(began)
	t.Logf("%d schedules, %d steps in %v: %.0f a minute", played.Load(), steps.Load(), took.Round(time.Second), float64(played.Load())/took.Minutes())
}

// A seed takes the same steps, whatever was played before, unless the machine is so slow that a
// take-over gives up: it does so after 10 s of real time.
func TestAScheduleRepeats(t *testing.T) {
	t.Parallel()
	first, second := newSimulation(t), newSimulation(t)
	const most = 10
	steps := map[uint64]string{}
	for seed := uint64(1); seed <= most; seed++ {
		first.play(seed)
		steps[seed] = strings.Join(first.steps, "\n")
	}
	repeated := 0
	for seed := uint64(most); seed > 0; seed-- {
		second.play(seed)
		switch again := strings.Join(second.steps, "\n"); {
		case again == steps[seed]:
			repeated++
		case !strings.Contains(steps[seed]+again, "changed during every attempt to take it over"):
			t.Errorf("schedule %d\n%s\nand then\n%s", seed, steps[seed], again)
		}
	}
	if repeated < most/2 {
		t.Errorf("only %d of %d schedules repeat", repeated, most)
	}
}
