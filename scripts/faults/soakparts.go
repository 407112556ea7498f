package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/kit/redistest"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/audit"
	"github.com/idemgen/idemgen/scripts/internal/script"
	"github.com/idemgen/idemgen/scripts/internal/shop"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// openOrders is the orders example with a standby, operators and a topic that grows.
func openOrders(ctx context.Context, k *kit, p *part) error {
	if err := p.stageFor(ctx, k, "orders", fault{proxied: true, kept: true}); err != nil {
		return err
	}
	p.members, p.rate = 3, rate*3/4
	p.next = poisoned(p.shop)
	auditor := audit.NewAuditor(k.service, p.paid)
	o := &operator{part: p}
	p.mixed = []incident{
		{"kills", 36, killMembers, 0},
		{"zombies", 2, freezeOne, 0},
		{"members replaced", 3, replaceOne, 0},
		{"sessions killed", 2, hitSessions("pg_terminate_backend"), 0},
		{"statements cancelled", 2, hitSessions("pg_cancel_backend"), 0},
		{"replies cut", 6, cutReply, 0},
		{"broker connections cut", 3, brokerCut, 0},
		{"broker away", 1, brokerShortlyAway, 0},
		{"broker restarts", 1, brokerShortlyStopped, 0},
		{"coordinator errors", 2, coordinatorError, 0},
		{"Postgres crashes", 1, o.upset(postgresCrashes), 0},
		{"restores", 1, o.upset(func(ctx context.Context, p *part) error {
			auditor = audit.NewAuditor(k.service, p.paid) // what this one has seen is undone
			return goBack(ctx, p)
		}), 0},
		{"failovers", 1, o.upset(func(ctx context.Context, p *part) error { return p.failOver(ctx) }), 0},
		{"old records again", 3, oldRecordsAgain, 0},
		{"partitions added", 2, grow, 2},
	}
	p.begin = func(ctx context.Context) error { o.start(ctx); return nil }
	p.rest = o.end
	p.meanwhile = func(ctx context.Context) ([]audit.Finding, error) {
		conn, err := pgx.Connect(ctx, p.database())
		if err != nil {
			return nil, fmt.Errorf("audit: %w", err)
		}
		log := p.messages()
		auditor.Decide(o.decisions())
		found, err := auditor.Audit(ctx, conn, log)
		return found, errors.Join(err, conn.Close(ctx))
	}
	p.last = func(ctx context.Context) (string, []audit.Finding, error) {
		found, err := p.meanwhile(ctx)
		return o.did(), found, err
	}
	return p.addStandby(ctx, true)
}

// goBack brings back a copy of the primary's files. The standby is ahead of it, and replaced.
func goBack(ctx context.Context, p *part) error {
	if err := p.copyFiles(ctx); err != nil {
		return err
	}
	if err := p.moves(ctx, 400, patience); err != nil {
		return err
	}
	old := p.standby
	p.standby = nil
	if err := errors.Join(old.Close(), p.bringBack(ctx)); err != nil {
		return err
	}
	return p.addStandby(ctx, true)
}

// poisoned makes records as events does, and some that become dead letters: they can never take
// effect, or only after a while.
func poisoned(m *shop.Maker) func(n int) []*wire.Message {
	calls := 0
	return func(n int) []*wire.Message {
		list := events(n)(m)
		switch calls++; calls % 20 {
		case 5:
			list = append(list, m.Broken(calls/20).Message)
		case 10:
			list = append(list, m.Orphan())
		case 15:
			shipped, placed := m.Late()
			list = append(append([]*wire.Message{shipped}, list...), placed)
		}
		return list
	}
}

// openCalls is a service with effects whose leases are in its database, which is restored.
func openCalls(ctx context.Context, k *kit, p *part) error {
	if err := p.openUsers(ctx, k, "calls"); err != nil {
		return err
	}
	p.mixed = []incident{
		{"kills", 24, killMembers, 0},
		{"Postgres crashes", 1, postgresCrashes, 0},
		{"copies", 1, func(ctx context.Context, p *part) error { return p.copyFiles(ctx) }, 0},
		{"restores", 3, func(ctx context.Context, p *part) error {
			if err := p.commitsBeyond(ctx, p.atCopy); err != nil {
				return err
			}
			return p.bringBack(ctx)
		}, 0},
	}
	p.begin = func(ctx context.Context) error { return errors.Join(p.commitsBeyond(ctx, nil), p.copyFiles(ctx)) }
	return nil
}

// openCallsOnRedis is a service with effects whose leases are in a Redis that keeps all on disk.
func openCallsOnRedis(ctx context.Context, k *kit, p *part) error {
	if err := p.openUsers(ctx, k, "calls on Redis"); err != nil {
		return err
	}
	r, err := redistest.Run(ctx, onDisk)
	if err != nil {
		return err
	}
	p.servers.onClose = append(p.servers.onClose, r.Close)
	p.env = append(p.env, script.Redis+"="+r.Addr())
	p.mixed = []incident{
		{"kills", 24, killMembers, 0},
		{"Postgres crashes", 1, postgresCrashes, 0},
		{"Redis crashes", 4, func(ctx context.Context, p *part) error {
			return p.during(func() error {
				err := errors.Join(r.Crash(), stage.Pause(ctx, time.Duration(p.random.IntN(500))*time.Millisecond))
				return errors.Join(err, r.Restart(ctx))
			})
		}, 0},
	}
	return nil
}

func (p *part) openUsers(ctx context.Context, k *kit, name string) error {
	if err := p.stageFor(ctx, k, name, fault{users: pings}); err != nil {
		return err
	}
	p.members, p.rate = 3, usersRate/2
	p.env = append(p.env, script.LongCall+"=1s")
	p.last = func(ctx context.Context) (string, []audit.Finding, error) {
		did, err := p.users.callsBy(ctx, p.theatre)
		if err != nil {
			return "", nil, err
		}
		found, err := p.audit(ctx)
		return did, found, err
	}
	return nil
}

// openOutbox is the orders example behind an outbox, whose relays are killed as well.
func openOutbox(ctx context.Context, k *kit, p *part) error {
	if err := p.stageFor(ctx, k, "outbox", fault{kept: true}); err != nil {
		return err
	}
	p.members, p.rate = 2, rate/4
	d, err := openDesk(ctx, p)
	if err != nil {
		return err
	}
	leads := func() bool {
		return d.running[0].Log.Count("the relay leads")+d.running[1].Log.Count("the relay leads") > 0
	}
	p.mixed = []incident{
		{"kills of members", 8, killMembers, 0},
		{"kills of relays", 12, func(ctx context.Context, p *part) error { return p.killSome(ctx, d.processes, leads, d.start) }, 0},
		{"Postgres crashes", 1, postgresCrashes, 0},
		{"broker connections cut", 2, brokerCut, 0},
		{"broker away", 1, brokerShortlyAway, 0},
		{"broker restarts", 1, brokerShortlyStopped, 0},
	}
	p.begin, p.rest = d.begin, d.sent
	p.last = func(ctx context.Context) (string, []audit.Finding, error) {
		found, err := p.audit(ctx)
		copies, wrong := d.compare(p.messages(), d.causes())
		return fmt.Sprintf("%d events, %d copies of relays", len(d.events), copies), append(found, wrong...), err
	}
	return nil
}
