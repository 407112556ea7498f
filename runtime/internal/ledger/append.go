package ledger

import (
	"crypto/rand"
	"encoding/binary"
	"strconv"
	"strings"
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
	Info    string // who, and why; of batches and fences, dead letters in a row, too
}

// NoIdentity is the Def of a row behind which any version of the service may go on: none has
// written yet, or an operator says so.
const NoIdentity int32 = 0

// Row is what an append adds behind a tail.
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
	Info   string // "" is NULL; of a batch, LettersInfo
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
		Int8(r.Window), r.Keys, optInt4(r.Def), optInt4(r.Parts), optText(r.Info), r.Defs,
	}
}

// Shorten is the parameters of [ShortenSQL], in binary: the row behind t whose token is was
// becomes r.
func Shorten(stream int32, t Tail, was wire.UUID, r Row) [][]byte {
	return [][]byte{
		Int4(stream), Int8(t.Seq + 1), was[:], r.Token[:], Int8(r.Next), Int4(r.Epoch), r.Keys, optText(r.Info), r.Defs,
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

// Time reads a timestamptz in Postgres' binary format.
func Time(b []byte) time.Time {
	return postgresEpoch.Add(time.Duration(int64(binary.BigEndian.Uint64(b))) * time.Microsecond)
}

// operatorInfo begins the info of every row that an operator appended.
const operatorInfo = "operator "

// OperatorInfo is the info of an operator's row: who, and why.
func OperatorInfo(by string) string { return operatorInfo + by }

// handBackInfo begins the info of every row by which an owner hands a partition back.
const handBackInfo = "handed back by "

// HandBackInfo is the info of a fence that an owner appends after the fence of its take-over,
// because the partition is not its own.
func HandBackInfo(who string) string { return handBackInfo + who }

// HandedBack reports whether an owner handed the partition back with a row. While the row is the
// tail, a worker in STANDBY need not wait.
func HandedBack(info string) bool { return strings.HasPrefix(info, handBackInfo) }

// ByOperator reports whether an operator appended the row: workers that a row of theirs
// fenced come back at once, and halted ones try again.
func ByOperator(kind byte, info string) bool {
	switch kind {
	case Operator, Skip, Rewind:
		return true
	}
	return strings.HasPrefix(info, operatorInfo)
}

// InRow counts dead letters behind the last record that took effect.
type InRow struct {
	N     int
	First int64 // offset of the first of them; of no meaning if there is none
}

// lettersInfo is part of the info of a batch or a fence if the chain ends with dead letters: their
// number is before it, the offset of the first after it.
const lettersInfo = " dead letters in a row, from offset "

// LettersInfo is the info of a batch: the dead letters behind the last record that took
// effect. "" is none.
func LettersInfo(r InRow) string {
	if r.N == 0 {
		return ""
	}
	return strconv.Itoa(r.N) + lettersInfo + strconv.FormatInt(r.First, 10)
}

// FenceInfo is the info of an owner's fence: who, and what the row before it says of dead
// letters, which may be removed before this one is.
func FenceInfo(who string, r InRow) string {
	if r.N == 0 {
		return who
	}
	return who + "; " + LettersInfo(r)
}

// Letters reads [LettersInfo] and [FenceInfo]. After an operator's row the count begins at zero.
func Letters(kind byte, info string) (r InRow) {
	i := strings.LastIndex(info, lettersInfo)
	if kind != Batch && kind != Fence || i < 0 || ByOperator(kind, info) {
		return r
	}
	number := info[:i]
	if j := strings.LastIndex(number, "; "); j >= 0 {
		number = number[j+2:]
	}
	n, err := strconv.Atoi(number)
	first, errFirst := strconv.ParseInt(info[i+len(lettersInfo):], 10, 64)
	if err != nil || errFirst != nil {
		return r
	}
	return InRow{n, first}
}
