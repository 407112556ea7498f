package ledger

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Tail is a chain's last row, as a worker knows it.
type Tail struct {
	Seq     int64
	Token   wire.UUID
	Next    int64 // first offset not covered
	Kind    byte
	Epoch   int32 // leader epoch of the last record; -1 if unknown
	Def     int32 // the identity of the events, as the service that wrote last has it; or NoIdentity
	Parts   int32 // partitions that the topic had
	Window  int64 // first row of the window: keys of earlier rows are not known any more
	Written time.Time
	Writer  byte
	Letters InRow  // with which the chain ends; none after an operator's row, unless it begins or ends a pause
	Info    string // who, and why, for people
}

// NoIdentity is the Def of a row after which any version of the service may go on: none has
// written yet, or an operator says so.
const NoIdentity int32 = 0

// Row is what an append adds after a tail.
type Row struct {
	Kind   byte
	Token  wire.UUID // new for every attempt
	Next   int64
	Epoch  int32
	Window int64  // never moves backward, whatever is said here
	Keys   []byte // 20 bytes per key; nil if there are none
	Defs   []byte // definitions of their content: 8 bytes per group
	Def    *int32 // nil copies the tail's
	Parts  *int32 // nil copies the tail's
	Writer byte   // 0 is Worker
	// Letters are dead letters with which the chain ends. Of kind Letter, First is the offset of the
	// letter that was settled.
	Letters InRow
	Info    string // who, and why, for people; "" is NULL
	// At is the time of the process that appends. The row's own is not before it.
	At time.Time
}

// NewToken is the token of a new row: random, so that nobody else appends a row with the same.
func NewToken() (t wire.UUID) {
	rand.Read(t[:])
	return t
}

// Append is the parameters of [AppendSQL], in binary.
func Append(stream int32, t Tail, r Row) [][]byte {
	return [][]byte{
		Int4(stream), Int8(t.Seq), t.Token[:], r.Token[:], Int8(t.Next), Int8(r.Next), {r.Kind}, Int4(r.Epoch),
		Int8(r.Window), r.Keys, optInt4(r.Def), optInt4(r.Parts), optText(r.Info), r.Defs, {cmp.Or(r.Writer, Worker)}, r.count(), r.first(), Timestamp(r.At),
	}
}

func (r *Row) count() []byte {
	if r.Letters.N == 0 {
		return nil
	}
	return Int4(int32(r.Letters.N))
}

func (r *Row) first() []byte {
	if r.Letters.N == 0 && r.Kind != Letter {
		return nil
	}
	return Int8(r.Letters.First)
}

// Shorten is the parameters of [ShortenSQL], in binary: the row after t whose token is was
// becomes r.
func Shorten(stream int32, t Tail, was wire.UUID, r Row) [][]byte {
	return [][]byte{
		Int4(stream), Int8(t.Seq + 1), was[:], r.Token[:], Int8(r.Next), Int4(r.Epoch), r.Keys, r.count(), r.Defs, r.first(),
	}
}

// Int4 is an integer in Postgres' binary format.
func Int4(v int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(v)) }

// Int8 is a bigint in Postgres' binary format.
func Int8(v int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(v)) }

func optInt4(v *int32) []byte {
	if v == nil {
		return nil
	}
	return Int4(*v)
}

func optText(v string) []byte {
	if v == "" {
		return nil
	}
	return []byte(v)
}

// postgresEpoch is where Postgres' times begin.
var postgresEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Timestamp is a timestamptz in Postgres' binary format. The zero time is NULL.
func Timestamp(t time.Time) []byte {
	if t.IsZero() {
		return nil
	}
	return Int8(t.Sub(postgresEpoch).Microseconds())
}

// Time reads a timestamptz in Postgres' binary format.
func Time(b []byte) time.Time {
	return postgresEpoch.Add(time.Duration(int64(binary.BigEndian.Uint64(b))) * time.Microsecond)
}

// InRow counts dead letters after the last record that took effect.
type InRow struct {
	N     int
	First int64 // offset of the first of them; of no meaning if there is none
}

// Said is what a row says for people: who appended it and why, and how many dead letters in a row
// the chain ends with.
func Said(info string, letters InRow) string {
	if letters.N == 0 {
		return info
	}
	if info != "" {
		info += "; "
	}
	return fmt.Sprintf("%s%d dead letters in a row, from offset %d", info, letters.N, letters.First)
}

// KeyBytes is the size of a key with its fingerprint in a row.
const KeyBytes = 20

// Split takes the claims apart: shared are those that go into idem_keys. The others go into
// the row of the chain: their keys, in groups whose content has one definition, and defs, the
// definition of each group and how many its keys are.
func Split(claims []wire.Claim) (shared []wire.Claim, keys, defs []byte) {
	var here []wire.Claim
	for i := range claims {
		if claims[i].Here {
			here = slices.Grow(here, len(claims)-i)
			break
		}
	}
	if here == nil {
		return claims, nil, nil
	}
	for _, c := range claims {
		if c.Here {
			here = append(here, c)
		} else {
			shared = append(shared, c)
		}
	}
	slices.SortStableFunc(here, func(a, b wire.Claim) int { return cmp.Compare(a.Def, b.Def) })
	keys = make([]byte, 0, len(here)*KeyBytes)
	for from, i := 0, 0; i < len(here); i++ {
		keys = append(keys, here[i].Key[:]...)
		keys = binary.BigEndian.AppendUint32(keys, here[i].Print)
		if i+1 == len(here) || here[i+1].Def != here[i].Def {
			defs = binary.BigEndian.AppendUint32(defs, here[i].Def)
			defs = binary.BigEndian.AppendUint32(defs, uint32(i+1-from))
			from = i + 1
		}
	}
	return shared, keys, defs
}
