package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/kit/cutproxy"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/scripts/internal/audit"
	"github.com/idemgen/idemgen/scripts/internal/script"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// soaking is one soak.
type soaking struct {
	*theatre
	auditor *audit.Auditor
	random  *rand.Rand
	counts  map[string]int
}

// mixed are the faults of a soak and how often each is drawn.
var mixed = []struct {
	name   string
	weight int
	do     func(context.Context, *soaking) error
}{
	{"kills", 24, func(ctx context.Context, s *soaking) error { return s.killOne(ctx, s.random) }},
	{"zombies", 2, freezeOne},
	{"members replaced", 3, replaceOne},
	{"sessions killed", 3, hitSessions("pg_terminate_backend")},
	{"statements cancelled", 3, hitSessions("pg_cancel_backend")},
	{"replies cut", 6, cutReply},
	{"broker connections cut", 3, func(_ context.Context, s *soaking) error { s.kafka.CutAll(); return nil }},
	{"broker away", 1, brokerShortlyAway},
	{"broker restarts", 1, brokerShortlyStopped},
	{"coordinator errors", 2, coordinatorError},
	{"Postgres crashes", 1, func(_ context.Context, s *soaking) error {
		return errors.Join(s.postgres.Crash(), s.postgres.Restart())
	}},
	{"restores", 2, goBack},
	{"failovers", 1, func(ctx context.Context, s *soaking) error { return s.failOver(ctx) }},
	{"old records again", 3, func(ctx context.Context, s *soaking) error { return s.sendAgain(ctx, 1+s.random.IntN(200)) }},
}

const (
	soakMembers  = 3
	betweenAudit = 20 * time.Second
)

// soak mixes faults for so many minutes, audits all the time, and says what it counted.
func (k *kit) soak(ctx context.Context, minutes float64, seed uint64) (err error) {
	if seed == 0 {
		seed = rand.Uint64N(1_000_000) + 1
	}
	fmt.Printf("soak: seed %d\n", seed)
	t, err := k.open(ctx, fault{name: "soak", proxied: true, kept: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close(), k.keep("soak", t)) }()
	s := &soaking{t, audit.NewAuditor(k.service, t.paid), rand.New(rand.NewPCG(seed, seed)), map[string]int{}}
	if err := t.addStandby(ctx, true); err != nil {
		return err
	}
	if err := t.startWorking(ctx, soakMembers); err != nil {
		return err
	}
	end := time.Now().Add(time.Duration(minutes * float64(time.Minute)))
	c, err := k.open(ctx, fault{name: "soak, calls", users: pings})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close(), k.keep("soak, calls", c)) }()
	calls := make(chan error, 1)
	var made string
	var wrong []audit.Finding
	go func() {
		var err error
		made, wrong, err = c.soakCalls(ctx, end, rand.New(rand.NewPCG(seed, 1)))
		calls <- err
	}()
	var found []audit.Finding
	failed := t.load(ctx, rate*3/4, func() (err error) {
		found, err = s.mix(ctx, end)
		return err
	})
	if failed == nil && len(found) == 0 {
		found = t.settle(ctx)
		failed = t.stopAll()
	}
	last, err := s.auditMore(ctx)
	err = errors.Join(err, <-calls)
	found = slices.Concat(found, last, wrong)
	fmt.Printf("soak: a service with effects: %s\n", made)
	s.print(found)
	fmt.Printf("soak: seed %d, %g minutes, %d kills, %d records, %d lost, %d doubled\n", seed, minutes, s.counts["kills"], len(t.messages()),
		audit.Count(found, audit.Lost), audit.Count(found, audit.Doubled))
	if len(found) > 0 {
		failed = errors.Join(failed, errors.New("the soak was not survived"))
	}
	return errors.Join(failed, err)
}

// mix draws faults until the time is over or an audit finds something.
func (s *soaking) mix(ctx context.Context, end time.Time) ([]audit.Finding, error) {
	all := 0
	for _, m := range mixed {
		all += m.weight
	}
	audited := time.Now()
	for time.Now().Before(end) {
		n, i := s.random.IntN(all), 0
		for ; n >= mixed[i].weight; i++ {
			n -= mixed[i].weight
		}
		if err := mixed[i].do(ctx, s); err != nil {
			return nil, fmt.Errorf("%s: %w", mixed[i].name, err)
		}
		s.counts[mixed[i].name]++
		if unread, standing := s.monitor.unread(); standing > patience {
			return unread, nil
		}
		if time.Since(audited) < betweenAudit {
			continue
		}
		found, err := s.auditMore(ctx)
		if err != nil || len(found) > 0 {
			return found, err
		}
		audited = time.Now()
		s.counts["audits"]++
	}
	return nil, nil
}

// auditMore audits, from where the audit before ended.
func (s *soaking) auditMore(ctx context.Context) ([]audit.Finding, error) {
	conn, err := pgx.Connect(ctx, s.database())
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	found, err := s.auditor.Audit(ctx, conn, s.messages())
	return found, errors.Join(err, conn.Close(ctx))
}

func (s *soaking) print(found []audit.Finding) {
	for _, m := range mixed {
		fmt.Printf("  %5d %s\n", s.counts[m.name], m.name)
	}
	fmt.Printf("  %5d audits meanwhile; longest stall of a partition %.1f s\n", s.counts["audits"], s.monitor.end().Seconds())
	if n := s.monitor.freed(); n > 0 {
		fmt.Printf("  %5d times the group of the kit's broker waited for nobody, and connections were cut to end it\n", n)
	}
	for _, f := range found[:min(len(found), shownFindings)] {
		fmt.Printf("  %v\n", f)
	}
}

// freezeOne makes a zombie of a process.
func freezeOne(ctx context.Context, s *soaking) error {
	p := s.running[s.random.IntN(len(s.running))]
	if err := p.Freeze(); err != nil {
		return err
	}
	err := stage.Pause(ctx, time.Duration(500+s.random.IntN(3000))*time.Millisecond)
	return errors.Join(err, p.Thaw())
}

// replaceOne does what a deployment does: a process that works is asked to end.
func replaceOne(ctx context.Context, s *soaking) error {
	p := s.running[s.random.IntN(len(s.running))]
	if !p.Owns() {
		return nil // it may not listen to signals yet
	}
	s.forget(p)
	if err := p.Stop(); err != nil {
		return err
	}
	_, err := s.start(ctx)
	return err
}

// goBack brings back a copy of the primary's files. The standby is ahead of it, and replaced.
func goBack(ctx context.Context, s *soaking) error {
	if err := s.copyFiles(ctx); err != nil {
		return err
	}
	if err := s.moves(ctx, 400, patience); err != nil {
		return err
	}
	old := s.standby
	s.standby = nil
	if err := errors.Join(old.Close(), s.bringBack(ctx)); err != nil {
		return err
	}
	s.auditor = audit.NewAuditor(s.kit.service, s.paid) // what the last one has seen is undone
	return s.addStandby(ctx, true)
}

// soakCalls kills, crashes and restores a service with effects, until the time is over, and audits
// its calls then.
func (t *theatre) soakCalls(ctx context.Context, end time.Time, random *rand.Rand) (did string, found []audit.Finding, err error) {
	t.env = append(t.env, script.LongCall+"=1s")
	if err := t.startWorking(ctx, 2); err != nil {
		return "", nil, err
	}
	err = t.load(ctx, usersRate/2, func() error {
		if err := errors.Join(t.commitsBeyond(ctx, nil), t.copyFiles(ctx)); err != nil {
			return err
		}
		for time.Now().Before(end) {
			var err error
			switch random.IntN(8) {
			case 0:
				if err = t.commitsBeyond(ctx, t.atCopy); err == nil { // else some are repeated unnoticed
					err = t.bringBack(ctx)
				}
			case 1:
				err = t.copyFiles(ctx)
			case 2:
				err = errors.Join(t.postgres.Crash(), t.postgres.Restart())
			default:
				err = t.killOne(ctx, random)
			}
			if err := errors.Join(err, stage.Pause(ctx, 2*time.Second)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = errors.Join(t.caughtUp(ctx), t.stopAll())
	}
	if err != nil {
		return "", nil, err
	}
	if did, err = t.users.callsBy(ctx, t); err != nil {
		return "", nil, err
	}
	found, err = t.audit(ctx)
	return fmt.Sprintf("%d restores; %s", len(t.restored), did), found, err
}

// hitSessions hits sessions of the service for a second.
func hitSessions(function string) func(context.Context, *soaking) error {
	return func(ctx context.Context, s *soaking) error {
		conn, err := pgx.Connect(ctx, s.direct)
		if err != nil {
			return err
		}
		defer conn.Close(ctx)
		for range 50 {
			if _, err := conn.Exec(ctx, hitOne(function)); err != nil {
				return err
			}
			if err := stage.Pause(ctx, 20*time.Millisecond); err != nil {
				return err
			}
		}
		return nil
	}
}

func cutReply(ctx context.Context, s *soaking) error {
	select {
	case <-s.wire.Once(cutproxy.AnswerLost("_append")):
		return nil
	case <-time.After(patience):
		return errors.New("no commit passed the proxy")
	case <-ctx.Done():
		return ctx.Err()
	}
}

func brokerShortlyAway(ctx context.Context, s *soaking) error {
	s.kafka.Refuse(true)
	err := stage.Pause(ctx, time.Duration(200+s.random.IntN(3000))*time.Millisecond)
	s.kafka.Refuse(false)
	return err
}

func brokerShortlyStopped(ctx context.Context, s *soaking) error {
	s.broker.Stop()
	err := stage.Pause(ctx, time.Duration(s.random.IntN(3000))*time.Millisecond)
	return errors.Join(err, s.broker.Start())
}

func coordinatorError(_ context.Context, s *soaking) error {
	codes := []int16{notCoordinator, illegalGeneration, unknownMember, coordinatorLoading, rebalanceInProgress}
	s.broker.Fail(idemtest.Failure{
		Requests: []int16{heartbeat, offsetCommit}, Error: codes[s.random.IntN(len(codes))], Times: 1 + s.random.IntN(3),
	})
	return nil
}
