package idemtest

import (
	"context"
	"errors"
)

// errNotOurs is what an outage of a server gets that somebody else runs.
var errNotOurs = errors.New("idemtest: the server is somebody else's: ask for one that is Durable")

// order does something to a server of our own.
func (p *Postgres) order(do func() error) error {
	if p.server == nil {
		return errNotOurs
	}
	return do()
}

// Crash ends the server and its sessions with kill -9; the data stays for Restart.
func (p *Postgres) Crash() error { return p.order(func() error { return p.server.Crash() }) }

// Restart starts a server that was ended, at the same address, and waits for its recovery.
func (p *Postgres) Restart() error { return p.order(func() error { return p.server.Restart() }) }

// Freeze stops all processes of the server: connections stay open and silent.
func (p *Postgres) Freeze() error { return p.order(func() error { return p.server.Freeze() }) }

// Thaw lets a frozen server continue.
func (p *Postgres) Thaw() error { return p.order(func() error { return p.server.Thaw() }) }

// Standby starts a server that follows p by streaming replication and answers queries; SQL
// promotes it (pg_promote). It shuts p down for a moment, to copy it. name is what the
// standby is called in synchronous_standby_names. Close it before p.
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
