// Package effects makes the calls that are the effects of events outside of Postgres. The
// generated code of a service with effects imports it; other services do not link it.
package effects

import (
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/door"
	"github.com/idemgen/idemgen/runtime/internal/effect"
	"github.com/idemgen/idemgen/runtime/internal/engine"
	"github.com/idemgen/idemgen/runtime/internal/pglease"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Option enables effects. Generated constructors pass it to [idem.New].
func Option() idem.Option { return door.Effects(effects{}).(idem.Option) }

// effects implements [engine.Effects].
type effects struct{}

func (effects) Statements() []session.Statement { return pglease.Statements }

func (effects) Of(c engine.Caller) engine.Calls {
	store := &pglease.Store{Pool: c.Pool, Now: c.Now}
	p := effect.NewProcess(c.Consumer, store, c.Leases, c.Most, c.Log)
	p.Hooks, p.Who = c.Hooks, c.Who
	return calls{p, store}
}

// calls implements [engine.Calls].
type calls struct {
	*effect.Process
	leases *pglease.Store
}

func (c calls) Desk(of engine.DeskOwner) engine.Desk { return c.NewDesk(effect.Owner(of)) }

// Complete completes the leases that are in Postgres. A lease outside of Postgres is not
// completed: the transaction claims its key, or its position.
func (c calls) Complete(results []wire.EffectResult) []pipeline.Statement {
	var done []lease.Hold
	for _, r := range results {
		if !r.External {
			done = append(done, lease.Hold{Key: r.Key, Token: r.Token})
		}
	}
	return c.leases.Complete(c.Consumer, done)
}
