// Package pipeline sends several statements in one round trip, and determines which statement
// caused an error. Outside of an explicit transaction they are one implicit transaction: all of
// them take effect, or none. It does not classify errors. It must not import any package of this
// module but outage, session and verdict.
package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// Statement is one statement with its parameters: a prepared one of the runtime, whose values are
// in binary; a text, which is parsed each time; or one that the driver prepared.
type Statement struct {
	Is     session.Statement
	SQL    string
	Driver *pgconn.StatementDescription
	Args   [][]byte
	User   bool // tables and triggers are the user's

	// Only with Driver.
	Formats, Results []int16 // of the parameters and of the columns
	Reader           Reader  // nil to ignore the answer
}

// Reader reads the answer to a statement before the next one.
type Reader interface {
	Read(*pgconn.ResultReader) error
}

var binaryFormat = []int16{1}

// Pipeline collects statements, and sends them when it runs.
type Pipeline struct {
	p       *pgconn.Pipeline
	conn    *pgconn.PgConn
	session *session.Session
	added   []added
	end     string // COMMIT or ROLLBACK; "" without one
}

// added is what is needed of a statement to read its answer.
type added struct {
	user    bool
	handler bool // a handler queued it
	sql     string
	read    Reader
}

// New returns a pipeline on a connection with a session.
func New(ctx context.Context, conn *pgx.Conn) *Pipeline {
	return &Pipeline{p: conn.PgConn().StartPipeline(ctx), conn: conn.PgConn(), session: session.Of(conn.PgConn())}
}

// Expect makes room for n statements and a few more.
func (p *Pipeline) Expect(n int) { p.added = slices.Grow(p.added, n+4) }

// Add adds statements.
func (p *Pipeline) Add(statements ...Statement) {
	for _, s := range statements {
		a := added{user: s.User, handler: s.Driver != nil, read: s.Reader}
		switch {
		case s.Driver != nil:
			a.sql = s.Driver.SQL
			p.p.SendQueryStatement(s.Driver, s.Args, s.Formats, s.Results)
		case s.SQL != "":
			a.sql = s.SQL
			p.p.SendQueryParams(s.SQL, s.Args, nil, binaryFormat, binaryFormat)
		default:
			a.sql = s.Is.SQL
			p.p.SendQueryPrepared(p.session.Name(s.Is), s.Args, binaryFormat, binaryFormat)
		}
		p.added = append(p.added, a)
	}
}

// End adds the statement that ends an explicit transaction: COMMIT or ROLLBACK.
func (p *Pipeline) End(sql string) {
	p.end = sql
	p.p.SendQueryParams(sql, nil, nil, nil, nil)
}

// Reply is the server's reply.
type Reply struct {
	Tag      string   // of the last statement
	Row      [][]byte // the only row of the first statement, not of the user's, that returned one
	Answered int      // number of statements that succeeded

	committed bool
}

// Committed reports whether the server has replied that the transaction of the statements is over
// and committed. Only [Pipeline.Run] and [Pipeline.RunThen] return such a reply.
func (r Reply) Committed() bool { return r.committed }

// Run sends the statements. It succeeds if the server becomes ready for the next query without an
// error. Replies to single statements prove nothing, because a deferred constraint or a lost
// connection shows only then.
func (p *Pipeline) Run() (Reply, error) {
	out, err, _ := p.RunThen()
	return out, err
}

// RunThen is like Run, with additional statements after the transaction, in the same round trip.
// Their error is errBehind; it is nil if the transaction had an error.
func (p *Pipeline) RunThen(behind ...Statement) (out Reply, err, errBehind error) {
	if len(behind) > 0 {
		p.p.SendPipelineSync()
		p.Add(behind...)
	}
	if err := p.p.Sync(); err != nil {
		return out, errors.Join(err, p.p.Close()), nil
	}
	err = p.answers(&out)
	if err == nil && session.Unreplicated(p.conn) {
		p.p.Close()
		return out, verdict.ErrUnreplicated, nil
	}
	out.committed = err == nil && p.conn.TxStatus() == 'I' && (p.end == "" || out.Tag == "COMMIT")
	if err == nil && len(behind) > 0 {
		errBehind = p.answers(&Reply{})
		return out, nil, errors.Join(errBehind, p.p.Close())
	}
	if closeErr := p.p.Close(); err == nil {
		err = closeErr
	}
	return out, err, nil
}

// answers reads the server's replies until it is ready for the next query.
func (p *Pipeline) answers(out *Reply) error {
	for {
		res, err := p.p.GetResults()
		if err != nil {
			return p.of(out.Answered, err)
		}
		switch r := res.(type) {
		case *pgconn.ResultReader:
			if err := out.read(r, p.at(out.Answered)); err != nil {
				return p.of(out.Answered, err)
			}
			out.Answered++
		case *pgconn.PipelineSync:
			return nil
		case nil:
			return errors.New("idem: the server did not acknowledge")
		default:
			return fmt.Errorf("idem: unexpected %T in a pipeline", res)
		}
	}
}

// of marks an error of the statement at i as the protocol's, unless the user's tables and triggers
// may have raised it: in a statement of theirs, or when the transaction ended.
func (p *Pipeline) of(i int, err error) error {
	if err == nil {
		return nil
	}
	at := p.at(i)
	err = outage.NameRight(err, p.session.Role(), at.sql)
	switch {
	case at.handler:
		return &verdict.Write{Err: err}
	case at.user, i >= len(p.added):
		return &verdict.Write{Err: err, SQL: at.sql}
	}
	return &verdict.Protocol{Err: err}
}

func (p *Pipeline) at(i int) (a added) {
	if i < len(p.added) {
		a = p.added[i]
	}
	return a
}

func (r *Reply) read(result *pgconn.ResultReader, of added) error {
	if of.read != nil {
		if err := of.read.Read(result); err != nil {
			return err
		}
	}
	for result.NextRow() {
		if r.Row == nil && !of.user {
			for _, v := range result.Values() {
				r.Row = append(r.Row, bytes.Clone(v))
			}
		}
	}
	tag, err := result.Close()
	r.Tag = tag.String()
	return err
}
