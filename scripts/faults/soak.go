package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idemgen/idemgen/scripts/internal/audit"
	"github.com/idemgen/idemgen/scripts/internal/script"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// part is one service of a soak, with servers, a topic and processes of its own.
type part struct {
	*theatre
	name    string
	members int // processes
	rate    int // of the load
	mixed   []incident
	random  *rand.Rand
	counts  map[string]int
	kills   int
	stopped *atomic.Bool // a part of the soak has failed

	// begin does something when processes and load are there, and rest waits for what follows the
	// load, before the topic is read to its end. Both may be nil.
	begin, rest func(context.Context) error
	// meanwhile audits while faults happen; nil if that is not possible.
	meanwhile func(context.Context) ([]audit.Finding, error)
	// last audits a service that was stopped, and tells what it did.
	last func(context.Context) (did string, found []audit.Finding, err error)
}

// incident is what happens in a soak, and how often it is drawn.
type incident struct {
	name   string
	weight int
	do     func(context.Context, *part) error
	most   int // how often it may happen; 0 is as often as it is drawn
}

const (
	betweenAudit = 20 * time.Second
	// tired is how long a partition may stand, with work there, until the service is left alone.
	tired = 15 * time.Second
)

// soak mixes faults for so many minutes, audits, and says what it counted.
func (k *kit) soak(ctx context.Context, minutes float64, seed uint64) (err error) {
	if seed == 0 {
		seed = rand.Uint64N(1_000_000) + 1
	}
	fmt.Printf("soak: seed %d\n", seed)
	var parts []*part
	defer func() {
		for _, p := range parts {
			err = errors.Join(err, p.close(), k.keep("soak "+p.name, p.theatre))
		}
	}()
	stopped := &atomic.Bool{}
	for i, open := range []func(context.Context, *kit, *part) error{openOrders, openCalls, openCallsOnRedis, openOutbox} {
		p := &part{random: rand.New(rand.NewPCG(seed, uint64(i))), counts: map[string]int{}, stopped: stopped}
		err := open(ctx, k, p)
		if p.theatre != nil {
			parts = append(parts, p)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	end := time.Now().Add(time.Duration(minutes * float64(time.Minute)))
	results := make([]struct {
		did   string
		found []audit.Finding
		err   error
	}, len(parts))
	var running sync.WaitGroup
	for i, p := range parts {
		running.Go(func() {
			r := &results[i]
			if r.did, r.found, r.err = p.run(ctx, end); r.err != nil || len(r.found) > 0 {
				stopped.Store(true)
			}
		})
	}
	running.Wait()
	kills, records := 0, 0
	var found []audit.Finding
	for i, p := range parts {
		r := results[i]
		p.print(r.did, r.found)
		kills, records, found = kills+p.kills, records+len(p.messages()), slices.Concat(found, r.found)
		if r.err != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", p.name, r.err))
		}
	}
	fmt.Printf("soak: seed %d, %g minutes, %d kills, %d records, %d lost, %d doubled\n", seed, minutes, kills, records,
		audit.Count(found, audit.Lost), audit.Count(found, audit.Doubled))
	if len(found) > 0 {
		err = errors.Join(err, errors.New("the soak was not survived"))
	}
	return err
}

// stageFor opens the theatre of a part. Its processes draw their Kafka client, if the environment
// names none.
func (p *part) stageFor(ctx context.Context, k *kit, name string, f fault) (err error) {
	p.name, f.name = name, "soak, "+name
	if p.theatre, err = k.open(ctx, f); err == nil && os.Getenv(script.Library) == "" {
		p.library = func() string { return libraries[p.random.IntN(len(libraries))] }
	}
	return err
}

// run has incidents happen until the time is over, and audits.
func (p *part) run(ctx context.Context, end time.Time) (did string, found []audit.Finding, err error) {
	if err := p.startWorking(ctx, p.members); err != nil {
		return "", nil, err
	}
	err = p.load(ctx, p.rate, func() (err error) {
		if p.begin != nil {
			err = p.begin(ctx)
		}
		if err == nil {
			found, err = p.mix(ctx, end)
		}
		return err
	})
	if err == nil && p.rest != nil {
		err = p.rest(ctx)
	}
	if err == nil && len(found) == 0 {
		found = p.settle(ctx)
	}
	if err == nil {
		err = p.stopAll()
	}
	did, last, lastErr := p.last(ctx)
	return did, slices.Concat(found, last), errors.Join(err, lastErr)
}

// mix draws incidents until the time is over, or an audit finds something.
func (p *part) mix(ctx context.Context, end time.Time) ([]audit.Finding, error) {
	audited := time.Now()
	for time.Now().Before(end) && !p.stopped.Load() {
		i := p.draw()
		if err := i.do(ctx, p); err != nil {
			return nil, fmt.Errorf("%s: %w", i.name, err)
		}
		p.counts[i.name]++
		for unread, standing := p.monitor.unread(); standing > tired; unread, standing = p.monitor.unread() {
			if standing > patience {
				return unread, nil
			}
			if err := errors.Join(stage.Pause(ctx, 50*time.Millisecond), p.dead()); err != nil {
				return nil, err
			}
		}
		if p.meanwhile == nil || time.Since(audited) < betweenAudit {
			continue
		}
		if found, err := p.meanwhile(ctx); err != nil || len(found) > 0 {
			return found, err
		}
		audited = time.Now()
		p.counts["audits"]++
	}
	return nil, nil
}

// draw chooses the next incident.
func (p *part) draw() incident {
	var urn []incident
	for _, i := range p.mixed {
		if i.most == 0 || p.counts[i.name] < i.most {
			urn = append(urn, slices.Repeat([]incident{i}, i.weight)...)
		}
	}
	return urn[p.random.IntN(len(urn))]
}

// killSome kills some processes at once, when one of them is at work if possible, and starts
// others in their places.
func (p *part) killSome(ctx context.Context, ps *processes, works func() bool, start func(context.Context) error) error {
	err := stage.Until(ctx, 5*time.Second, func() (bool, error) { return works(), ps.dead() })
	// Not all are killed at work.
	if err != nil && !errors.Is(err, stage.ErrTimeout) {
		return err
	}
	if err := stage.Pause(ctx, time.Duration(1+p.random.IntN(200))*time.Millisecond); err != nil {
		return err
	}
	victims := slices.Clone(ps.running)
	p.random.Shuffle(len(victims), func(i, j int) { victims[i], victims[j] = victims[j], victims[i] })
	victims = victims[:1+p.random.IntN(len(victims))]
	for _, v := range victims {
		if err := ps.kill(v); err != nil {
			return err
		}
		p.kills++
	}
	for range victims {
		if err := start(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (p *part) print(did string, found []audit.Finding) {
	fmt.Printf("%s: %s\n  %d kills", p.name, did, p.kills)
	for _, i := range p.mixed {
		if n := p.counts[i.name]; n > 0 && !strings.HasPrefix(i.name, "kills") {
			fmt.Printf(", %d %s", n, i.name)
		}
	}
	if n := p.counts["audits"]; n > 0 {
		fmt.Printf(", %d audits meanwhile", n)
	}
	fmt.Printf("; longest stall of a partition %.1f s\n", p.monitor.end().Seconds())
	if n := p.monitor.freed(); n > 0 {
		fmt.Printf("  %d times the group of the kit's broker waited for nobody, and connections were cut to end it\n", n)
	}
	for _, f := range found[:min(len(found), shownFindings)] {
		fmt.Printf("  %v\n", f)
	}
}
