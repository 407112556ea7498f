package wire

import (
	"encoding/binary"
	"time"
)

// parts is a list of typed, length-prefixed values. Two different lists never have the
// same bytes: ("a", "1-2") and ("a-1", "2") differ, and so do 1 and "1".
type parts []byte

// The type of a part. These letters are hashed into stored keys: they must never change.
const (
	partHeader  = 'h'
	partText    = 't'
	partUUID    = 'u'
	partBool    = 'b'
	partInt     = 'i'
	partFloat   = 'f'
	partDecimal = 'd'
	partTime    = 'z' // with zone, as microseconds since 1970 in UTC
	partLocal   = 'l'
	partDate    = 'y'
	partBytes   = 'x'
	partJSON    = 'j'
	partName    = 'n'
	partNull    = '0'
)

func (p *parts) prefix(kind byte, n int) {
	*p = binary.AppendUvarint(append(*p, kind), uint64(n))
}

func (p *parts) bytes(kind byte, v []byte) {
	p.prefix(kind, len(v))
	*p = append(*p, v...)
}

func (p *parts) text(kind byte, v string) {
	p.prefix(kind, len(v))
	*p = append(*p, v...)
}

func (p *parts) fixed8(kind byte, v uint64) {
	*p = binary.BigEndian.AppendUint64(append(*p, kind, 8), v)
}

func (p *parts) time(v time.Time) { p.fixed8(partTime, uint64(v.UnixMicro())) }
