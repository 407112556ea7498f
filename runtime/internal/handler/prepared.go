package handler

import (
	"context"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The bounds of what stays prepared in a session because of handlers. The runtime prepares the
// statements that were queued, and those with long texts; the driver prepares the other ones, and
// bounds only their number.
const (
	most      = 500      // statements of the runtime
	mostBytes = 8 << 20  // of their texts, unless the last one alone has more
	long      = 16 << 10 // bytes that make a text long
)

// prepared contains the statements of one connection that the runtime prepared for handlers, with
// the time of their last use.
type prepared struct {
	all   map[string]*use
	uses  atomic.Int64
	bytes int // of the texts
}

type use struct {
	is               *pgconn.StatementDescription
	last             int64
	formats, results []int16 // of its parameters and columns, as they were sent last
}

const preparedKey = "idemgen: queued"

// preparedOn returns the statements of a connection. It is called once before the handlers of a
// transaction run, because several goroutines of a handler may use the connection's map then.
func preparedOn(conn *pgx.Conn) *prepared {
	data := conn.PgConn().CustomData()
	p, ok := data[preparedKey].(*prepared)
	if !ok {
		p = &prepared{all: map[string]*use{}}
		data[preparedKey] = p
	}
	return p
}

// find returns nil if the statement is not prepared.
func (p *prepared) find(sql string) *use {
	u := p.all[sql]
	if u == nil {
		return nil
	}
	u.last = p.uses.Add(1)
	return u
}

// keep prepares a statement, unless it is prepared. If there are too many, it first removes those
// that were used least recently. It removes none whose last use is later than since.
func (p *prepared) keep(ctx context.Context, conn *pgx.Conn, sql string, since int64) (*use, error) {
	if u := p.find(sql); u != nil {
		return u, nil
	}
	for len(p.all) >= most || p.bytes+len(sql) > mostBytes {
		oldest := ""
		for other, u := range p.all {
			if u.last <= since && (oldest == "" || u.last < p.all[oldest].last) {
				oldest = other
			}
		}
		if oldest == "" {
			break
		}
		if err := p.remove(ctx, conn, oldest); err != nil {
			return nil, err
		}
	}
	is, err := conn.Prepare(ctx, sql, sql)
	if err != nil {
		return nil, err
	}
	u := &use{is: is, last: p.uses.Add(1)}
	p.all[sql] = u
	p.bytes += len(sql)
	return u, nil
}

func (p *prepared) remove(ctx context.Context, conn *pgx.Conn, sql string) error {
	if err := conn.Deallocate(ctx, sql); err != nil {
		return err
	}
	delete(p.all, sql)
	p.bytes -= len(sql)
	return nil
}

// forgetLong removes the long texts after a call that failed: their tables may have changed. An
// error leaves them to the next one.
func (p *prepared) forgetLong(ctx context.Context, conn *pgx.Conn) {
	for sql := range p.all {
		if len(sql) > long && p.remove(ctx, conn, sql) != nil {
			return
		}
	}
}

// forget removes a statement. An error leaves it to the next one.
func (p *prepared) forget(ctx context.Context, conn *pgx.Conn, is *pgconn.StatementDescription) {
	for sql, u := range p.all {
		if u.is == is {
			_ = p.remove(ctx, conn, sql)
		}
	}
}
