package operate

import (
	"context"

	"github.com/idemgen/idemgen/internal/ledger"
)

// CommittedBy returns the consumer that has committed an offset of its group to Kafka, by the
// offset's metadata. It reports false if no service of idemgen has.
func CommittedBy(metadata string) (consumer string, ok bool) {
	m, ok := ledger.ReadMark(0, metadata)
	return m.Consumer, ok
}

// LostCommits reports whether the database lost commits of a stream, by an offset that a service
// of idemgen has committed to Kafka, or whether the offset is of another ledger. A position that
// an operator set back is no loss.
func LostCommits(ctx context.Context, db DB, stream int32, offset int64, metadata string) (lost, other bool, err error) {
	if m, ours := ledger.ReadMark(offset, metadata); ours {
		lost, other, err = m.Gone(ctx, db, stream)
	}
	return lost, other, Explain(err)
}
