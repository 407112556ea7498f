package idem

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/wire"
)

// known is what the database says about the keys of a batch, and the generation that new
// keys are claimed in. It holds for the transaction that follows on the same connection.
type known struct {
	gen    int32
	token  UUID
	prior  map[Key]wire.Prior
	places map[Key]place
	mine   bool // a key was claimed by this stream behind our tail: an attempt of ours committed
}

// place is where the first copy of an event stands.
type place struct {
	stream int32
	seq    int64
}

var errNoGeneration = errors.New("no generation of keys is open for the consumer")

// readKnown learns the open generation and then the known keys, in one round trip.
func (o *owner) readKnown(ctx context.Context, conn *pgxpool.Conn, claims []wire.Claim) (*known, error) {
	consumer := []byte(o.c.service.Consumer)
	p := conn.Conn().PgConn().StartPipeline(ctx)
	p.SendQueryPrepared("idem_open_generation", [][]byte{consumer}, binaryFormat, binaryFormat)
	p.SendQueryPrepared("idem_known_keys", [][]byte{consumer, keyArray(claims)}, binaryFormat, binaryFormat)
	if err := p.Sync(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	k := &known{}
	err := eachRow(p, func(row [][]byte) {
		k.gen = int32(binary.BigEndian.Uint32(row[0]))
		k.token = UUID(row[1])
	})
	if err == nil {
		err = eachRow(p, func(row [][]byte) { o.addKnown(k, row) })
	}
	if err := errors.Join(err, p.Close()); err != nil {
		return nil, err
	}
	if k.gen == 0 {
		return nil, o.halted(o.tail.next, errNoGeneration.Error(), nil)
	}
	return k, nil
}

func (o *owner) addKnown(k *known, row [][]byte) {
	key := Key(row[0])
	at := place{int32(binary.BigEndian.Uint32(row[3])), int64(binary.BigEndian.Uint64(row[4]))}
	if at.stream == o.stream && at.seq > o.tail.seq {
		k.mine = true
		return
	}
	if k.prior == nil {
		k.prior, k.places = map[Key]wire.Prior{}, map[Key]place{}
	}
	k.prior[key] = wire.Prior{Def: int32(binary.BigEndian.Uint32(row[1])), Print: binary.BigEndian.Uint32(row[2])}
	k.places[key] = at
}

// eachRow reads the result of one statement of a pipeline.
func eachRow(p *pgconn.Pipeline, row func([][]byte)) error {
	res, err := p.GetResults()
	if err != nil {
		return err
	}
	r, ok := res.(*pgconn.ResultReader)
	if !ok {
		return fmt.Errorf("idem: expected rows, got %T", res)
	}
	for r.NextRow() {
		row(r.Values())
	}
	_, err = r.Close()
	return err
}

// keyArray is uuid[] of the claims' keys.
func keyArray(claims []wire.Claim) []byte {
	var rows wire.Rows
	for i := range claims {
		rows.Row().UUID(UUID(claims[i].Key))
	}
	return rows.Seal(nil)[0]
}

// claimStatement claims the keys in sorted order: two batches that claim the same keys
// wait for each other in one direction only.
func (o *owner) claimStatement(w *work) statement {
	claims := slices.Clone(w.claims)
	slices.SortFunc(claims, func(a, b wire.Claim) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	var rows wire.Rows
	for i := range claims {
		r := rows.Row()
		r.UUID(UUID(claims[i].Key))
		r.Int4(int32(claims[i].Print))
	}
	args := [][]byte{
		int4(w.known.gen), w.known.token[:], int4(int32(o.c.service.KeyDef)), int4(o.stream), int8bytes(o.tail.seq + 1),
	}
	return statement{name: "idem_claim", args: rows.Seal(args)}
}

// logDuplicate tells at Debug where the first copy of a duplicate stands.
func (o *owner) logDuplicate(m *Message, known *known) {
	if !o.c.log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	args := []any{"topic", o.id.Topic, "partition", o.id.Number, "offset", m.Offset}
	if at, ok := known.placeOf(o.batch.Duplicate()); ok {
		args = append(args, "first_stream", at.stream, "first_seq", at.seq)
	} else {
		args = append(args, "first", "in the same batch")
	}
	o.c.log.Debug("duplicate", args...)
}

func (k *known) placeOf(key Key) (place, bool) {
	if k == nil {
		return place{}, false
	}
	at, ok := k.places[key]
	return at, ok
}
