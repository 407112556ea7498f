package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/wire"
)

// adopt begins the ledger of a partition that has none.
func adopt(ctx context.Context, db DB, name Name, to Target, by By) (Change, error) {
	id, err := topicID(name.TopicID)
	if err != nil {
		return Change{}, err
	}
	name.TopicID = id.String()
	info, err := by.info(ctx, db)
	if err != nil {
		return Change{}, err
	}
	n := &adoption{db: db, name: name, id: id, Target: to, info: info, token: ledger.NewToken()}
	for end := time.Now().Add(patience); ; time.Sleep(pause) {
		c, err := n.try(ctx, by.DryRun)
		if _, ok := errors.AsType[*againError](err); ok && ctx.Err() == nil && time.Now().Before(end) {
			continue
		}
		if n.inDoubt && err != nil {
			err = fmt.Errorf("%v: the row was sent, but it is not known whether it is there; check with list before you try again: %w", name, err)
		}
		return c, err
	}
}

// adoption is one adopt. Its token is the same for all tries: each of them writes the same.
type adoption struct {
	db   DB
	name Name
	id   wire.UUID // of the topic
	Target
	info    string
	token   wire.UUID
	inDoubt bool
}

func (n *adoption) try(ctx context.Context, dry bool) (Change, error) {
	all, err := list(ctx, n.db, n.name.Consumer)
	if err != nil {
		return Change{}, again(err, n.inDoubt)
	}
	known, err := n.complete(all)
	if err != nil {
		return Change{}, err
	}
	c := Change{
		Consumer: n.name.Consumer, Topic: n.name.Topic, TopicID: n.name.TopicID, Partition: n.name.Partition, Kind: kinds[ledger.Genesis],
		From: n.To, To: n.To, Partitions: n.Partitions, Info: n.info, Appended: !dry,
		Effect: fmt.Sprintf("a ledger begins at offset %d: records before it are skipped, and write no rows", n.To),
	}
	if n.To == 0 {
		c.Effect = "a ledger begins at offset 0: all records of the log are read"
	}
	switch {
	case known == nil:
		if len(all) == 0 {
			c.Effect += "; the first one of consumer " + n.name.Consumer + " in this database"
		} else if topics := topicsOf(all); !slices.Contains(topics, n.name.Topic) {
			c.Effect += "; the first one of topic " + n.name.Topic + ", where the consumer has " + strings.Join(topics, ", ")
		}
		return c, n.start(ctx, dry)
	case known.Tail == nil:
		c.Seq, err = n.renew(ctx, known.Stream, dry)
		return c, err
	case n.inDoubt:
		return c, n.mine(ctx, known, &c)
	}
	return c, fmt.Errorf("%v has a ledger: it is at offset %d (row %d, %s); give that as --from to move it", n.name, known.Tail.Position, known.Tail.Seq, known.Tail.Kind)
}

// complete finds the stream, if it is known, and takes what was not said from other ones.
func (n *adoption) complete(all []Status) (known *Status, err error) {
	var parts int32
	for i := range all {
		s := &all[i]
		if s.Tail != nil && s.Topic == n.name.Topic {
			parts = s.Tail.Partitions
		}
		if s.Topic == n.name.Topic && s.Partition == n.name.Partition && s.TopicID == n.name.TopicID {
			known = s
		}
	}
	if n.Partitions == 0 {
		n.Partitions = parts
	}
	if n.Partitions < 1 {
		return nil, fmt.Errorf("%v: no other ledger tells how many partitions the topic has: give --partitions", n.name)
	}
	if n.name.Partition >= n.Partitions || n.name.Partition < 0 {
		return nil, fmt.Errorf("%v: the topic has %s, numbered from 0: there is no partition %d", n.name, count(int64(n.Partitions), "partition"), n.name.Partition)
	}
	return known, nil
}

// start makes a stream with its first row.
func (n *adoption) start(ctx context.Context, dry bool) error {
	if dry {
		return nil
	}
	return n.write(ctx, func(conn *pgconn.PgConn) (int64, error) {
		return exec(ctx, conn, ledger.GenesisSQL, []byte(n.name.Consumer), []byte(n.name.Topic), n.id[:], ledger.Int4(n.name.Partition),
			n.token[:], ledger.Int8(n.To), ledger.Int4(ledger.NoIdentity), ledger.Int4(n.Partitions), []byte(n.info), []byte{ledger.Person})
	})
}

// renew writes the first row of a stream whose rows are gone, and returns its place. An
// owner whose memory is of the old rows finds none of them, and is refused.
func (n *adoption) renew(ctx context.Context, stream int32, dry bool) (int64, error) {
	var seq int64
	if err := n.db.QueryRow(ctx, ledger.LastSeqSQL, pgx.QueryExecModeExec, stream).Scan(&seq); err != nil {
		return 0, again(err, n.inDoubt)
	}
	seq++
	if dry {
		return seq, nil
	}
	return seq, n.write(ctx, func(conn *pgconn.PgConn) (int64, error) {
		if err := conn.Exec(ctx, ledger.LockSQL).Close(); err != nil {
			return 0, err
		}
		return exec(ctx, conn, ledger.RenewSQL, ledger.Int4(stream), ledger.Int8(seq), n.token[:], ledger.Int8(n.To),
			ledger.Int4(ledger.NoIdentity), ledger.Int4(n.Partitions), []byte(n.info))
	})
}

// errTaken says that somebody else began the ledger first.
var errTaken = errors.New("somebody else began the ledger")

// write runs a statement that must write one row.
func (n *adoption) write(ctx context.Context, do func(conn *pgconn.PgConn) (int64, error)) error {
	sent, err := transact(ctx, n.db, func(conn *pgconn.PgConn) error {
		rows, err := do(conn)
		if err == nil && rows != 1 {
			err = errTaken
		}
		return err
	})
	pg, refused := errors.AsType[*pgconn.PgError](err)
	switch {
	case err == nil:
		return nil
	case !sent:
		return again(err, n.inDoubt)
	case errors.Is(err, errTaken), isLockTimeout(err),
		refused && pg.Code == "23505" && pg.ConstraintName == "idem_stream_identity":
		return &againError{err} // the next try reads who
	case isUnknown(err):
		n.inDoubt = true
		return &againError{err}
	}
	return Explain(err)
}

// mine finds out whether the ledger that is there now was begun by a try whose reply was
// lost.
func (n *adoption) mine(ctx context.Context, known *Status, c *Change) error {
	err := n.db.QueryRow(ctx, `SELECT seq FROM idem_ledger WHERE stream = $1 AND token = $2::uuid`, pgx.QueryExecModeExec, known.Stream, n.token.String()).Scan(&c.Seq)
	if errors.Is(err, pgx.ErrNoRows) {
		n.inDoubt = false // the identity is taken: no try of ours can commit any more
		return fmt.Errorf("%v: somebody else began the ledger meanwhile: it is at offset %d", n.name, known.Tail.Position)
	}
	if err != nil {
		return again(err, n.inDoubt)
	}
	return nil
}

// topicID reads the text of a topic's id.
func topicID(text string) (wire.UUID, error) {
	id, err := wire.ParseUUID(text)
	if err != nil {
		return id, fmt.Errorf("%q is no topic id: it is a UUID, which the partition's error and list show", text)
	}
	return id, nil
}
