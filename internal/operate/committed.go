package operate

import "github.com/idemgen/idemgen/internal/ledger"

// CommittedBy returns the consumer that has committed an offset of its group to Kafka, by the
// offset's metadata. It reports false if no service of idemgen has.
func CommittedBy(metadata string) (consumer string, ok bool) {
	m, ok := ledger.ReadMark(0, metadata)
	return m.Consumer, ok
}
