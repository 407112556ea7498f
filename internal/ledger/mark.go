package ledger

import (
	"fmt"
	"strings"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Mark is what an owner commits to Kafka beside the group's offset: the row of the chain that the
// offset is of. Kafka keeps it when the database loses commits. So a chain without that row is one
// that went back in time.
type Mark struct {
	Stream   wire.UUID // id of the chain
	Seq      int64     // the row
	Token    wire.UUID // of the row
	Next     int64     // its position: the offset that is committed, which the text does not repeat
	High     int64     // effects of records below this offset may have been called
	Fence    int64     // the highest fencing token that the process knew; 0 for none
	Consumer string
}

// markFormat is the text of a mark. Another client takes it for a text without meaning.
const markFormat = "idemgen 1 %36s %d %36s %d %d "

// String returns the text for Kafka, which [ReadMark] reads.
func (m Mark) String() string {
	return fmt.Sprintf(markFormat, m.Stream, m.Seq, m.Token, m.High, m.Fence) + m.Consumer
}

// ReadMark reads the metadata of a committed offset. It reports false if no version of idemgen
// that writes this format committed it.
func ReadMark(offset int64, metadata string) (m Mark, ok bool) {
	var stream, token string
	if n, err := fmt.Sscanf(metadata, markFormat, &stream, &m.Seq, &token, &m.High, &m.Fence); n != 5 || err != nil {
		return Mark{}, false
	}
	parts := strings.SplitN(metadata, " ", 8)
	var err error
	if m.Stream, err = wire.ParseUUID(stream); err == nil {
		m.Token, err = wire.ParseUUID(token)
	}
	if err != nil || len(parts) < 8 {
		return Mark{}, false
	}
	m.Next, m.Consumer = offset, parts[7]
	return m, true
}
