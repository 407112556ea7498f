package idemtest

import (
	"context"
	"errors"
)

// errNotOurs is the error of an outage of a server that this package did not start.
var errNotOurs = errors.New("idemtest: this package did not start the server: set Durable in PostgresOptions")

// order calls do, unless this package did not start the server.
func (p *Postgres) order(do func() error) error {
	if p.server == nil {
		return errNotOurs
	}
	return do()
}

// Crash kills the server and its sessions with SIGKILL. It keeps the data for Restart.
func (p *Postgres) Crash() error { return p.order(func() error { return p.server.Crash() }) }

// Restart starts a server after Crash, at the same address, and waits for its recovery.
func (p *Postgres) Restart() error { return p.order(func() error { return p.server.Restart() }) }

// Freeze suspends all processes of the server: connections stay open, but the server does not
// respond.
func (p *Postgres) Freeze() error { return p.order(func() error { return p.server.Freeze() }) }

// Thaw resumes a server after Freeze.
func (p *Postgres) Thaw() error { return p.order(func() error { return p.server.Thaw() }) }

// Standby starts a hot standby of p, with streaming replication; promote it with pg_promote. It
// shuts p down briefly to copy its data. name is the name of the standby in
// synchronous_standby_names. Close the standby before p.
func (p *Postgres) Standby(ctx context.Context, name string, o PostgresOptions) (*Postgres, error) {
	if p.server == nil {
		return nil, errNotOurs
	}
	s, err := p.server.Standby(ctx, name, o.own(o.Major))
	if err != nil {
		return nil, err
	}
	return started(ctx, s)
}
