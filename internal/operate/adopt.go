package operate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/wire"
)

// adoption begins the ledger of a partition that has none.
type adoption struct {
	command
	Target
	id wire.UUID // of the topic
}

func adopt(ctx context.Context, db DB, name Name, to Target, by By) (Change, error) {
	id, err := topicID(name.TopicID)
	if err != nil {
		return Change{}, err
	}
	name.TopicID = id.String()
	n := &adoption{command{db: db, name: name}, to, id}
	return n.run(ctx, by, n.try)
}

func (n *adoption) try(ctx context.Context) (Change, error) {
	all, err := named(ctx, n.db, Name{Partition: Any})
	if err != nil {
		return Change{}, n.read(err)
	}
	all = slices.DeleteFunc(all, func(s Status) bool { return s.Consumer != n.name.Consumer })
	known, err := n.complete(all)
	if err != nil {
		return Change{}, err
	}
	if known != nil && known.Tail != nil {
		done, found, err := n.settled(ctx, known.Stream, known.Tail.Seq)
		if !found && err == nil {
			err = fmt.Errorf("%v has a ledger: it is at offset %d (row %d, %s); give that as --from to move it", n.name, known.Tail.Position, known.Tail.Seq, known.Tail.Kind)
		}
		return done, err
	}
	row := sent{0, ledger.NewToken(), Change{
		Name: n.name, Kind: kinds[ledger.Genesis], From: n.To, To: n.To, Partitions: n.Partitions, Info: n.info,
		Effect: fmt.Sprintf("a ledger begins at offset %d: records before it are skipped, and write no rows", n.To),
	}}
	if n.To == 0 {
		row.done.Effect = "a ledger begins at offset 0: all records of the log are read"
	}
	if known != nil {
		return n.renew(ctx, known.Stream, row)
	}
	if len(all) == 0 {
		row.done.Effect += "; the first one of consumer " + n.name.Consumer + " in this database"
	} else if !slices.ContainsFunc(all, func(s Status) bool { return s.Topic == n.name.Topic }) {
		row.done.Effect += "; the first one of topic " + n.name.Topic + ", where the consumer has " + strings.Join(notFound(n.name, all).Near, ", ")
	}
	return n.write(ctx, row, func(conn *pgconn.PgConn) (int64, error) {
		return exec(ctx, conn, ledger.GenesisSQL, []byte(n.name.Consumer), []byte(n.name.Topic), n.id[:], ledger.Int4(n.name.Partition),
			row.token[:], ledger.Int8(n.To), ledger.Int4(ledger.NoIdentity), ledger.Int4(n.Partitions), []byte(n.info), []byte{ledger.Person})
	})
}

// renew writes the first row of a stream whose rows are gone. An owner that still knows the old
// rows no longer finds them, and its appends fail.
func (n *adoption) renew(ctx context.Context, stream int32, row sent) (Change, error) {
	if _, err := one(ctx, n.db, []any{&row.seq}, ledger.LastSeqSQL, stream); err != nil {
		return Change{}, n.read(err)
	}
	row.seq++
	row.done.Seq = row.seq
	at, err := now(ctx, n.db, stream)
	if err != nil {
		return Change{}, n.read(err)
	}
	return n.write(ctx, row, func(conn *pgconn.PgConn) (int64, error) {
		if err := conn.Exec(ctx, ledger.LockSQL).Close(); err != nil {
			return 0, err
		}
		return exec(ctx, conn, ledger.RenewSQL, ledger.Int4(stream), ledger.Int8(row.seq), row.token[:], ledger.Int8(n.To),
			ledger.Int4(ledger.NoIdentity), ledger.Int4(n.Partitions), []byte(n.info), ledger.Timestamp(at))
	})
}

// complete finds the stream, if it is known, and takes omitted values from other streams.
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
		return nil, fmt.Errorf("%v: no other ledger records how many partitions the topic has: give --partitions", n.name)
	}
	if n.name.Partition >= n.Partitions || n.name.Partition < 0 {
		return nil, fmt.Errorf("%v: the topic has %s, numbered from 0: there is no partition %d", n.name, count(n.Partitions, "partition"), n.name.Partition)
	}
	return known, nil
}

// topicID reads the text of a topic's id.
func topicID(text string) (wire.UUID, error) {
	id, err := wire.ParseUUID(text)
	if err != nil {
		return id, fmt.Errorf("%q is not a topic id: a topic id is a UUID, which the partition's error and list show", text)
	}
	return id, nil
}
