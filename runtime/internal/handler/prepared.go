package handler

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// most is how many statements stay prepared in a session because handlers queued them.
const most = 500

// prepared contains the statements of one connection that were prepared because handlers queued
// them, with the time of their last use.
type prepared struct {
	all  map[string]*use
	uses int64
}

type use struct {
	is   *pgconn.StatementDescription
	last int64
}

const preparedKey = "idemgen: queued"

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
func (p *prepared) find(sql string) *pgconn.StatementDescription {
	u := p.all[sql]
	if u == nil {
		return nil
	}
	p.uses++
	u.last = p.uses
	return u.is
}

// prepare prepares a statement. If there are too many, the one that was not used for the longest
// time is removed.
func (p *prepared) prepare(ctx context.Context, conn *pgx.Conn, sql string) (*pgconn.StatementDescription, error) {
	if len(p.all) >= most {
		oldest := sql
		for other, u := range p.all {
			if p.all[oldest] == nil || u.last < p.all[oldest].last {
				oldest = other
			}
		}
		if err := conn.Deallocate(ctx, oldest); err != nil {
			return nil, err
		}
		delete(p.all, oldest)
	}
	is, err := conn.Prepare(ctx, sql, sql)
	if err != nil {
		return nil, err
	}
	p.uses++
	p.all[sql] = &use{is, p.uses}
	return is, nil
}

// forget removes a statement. An error leaves it to the next one.
func (p *prepared) forget(ctx context.Context, conn *pgx.Conn, is *pgconn.StatementDescription) {
	for sql, u := range p.all {
		if u.is == is && conn.Deallocate(ctx, sql) == nil {
			delete(p.all, sql)
		}
	}
}
