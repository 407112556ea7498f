package oracle

import "time"

// Record is one Kafka record.
type Record struct {
	Topic     string
	Partition int32
	Offset    int64
	Time      time.Time // the record timestamp; the zero time if the record has none
	Key       []byte    // nil if the record has no key
	Value     []byte    // nil is a record without value; zero bytes are a broken payload
	Headers   []Header
	Result    []byte // of its effect, as JSON; nil if it has none
	Plain     bool   // Value is not packed as the topic says

	why map[int]string // why fields cannot read values in the unpacked Value, by their positions
}

// Header is one record header. A nil Value is null.
type Header struct {
	Name  string
	Value []byte
}
