package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/ledger"
)

const waitingSQL = `
SELECT count(*), coalesce(min(d.offs), 0), coalesce(min(s.partition), 0) FROM idem_dead_letter d JOIN idem_stream s USING (stream)
WHERE s.consumer = $1 AND s.topic = $2 AND d.state IN ('d', 'w') AND d.parks`

// nothingWaits refuses while records of a topic wait behind dead letters: later records of their
// keys may land in another partition, and overtake them.
func nothingWaits(ctx context.Context, db DB, name Name) error {
	var open, offset int64
	var partition int32
	if err := db.QueryRow(ctx, waitingSQL, pgx.QueryExecModeExec, name.Consumer, name.Topic).Scan(&open, &offset, &partition); err != nil {
		return Explain(err)
	}
	if open == 0 {
		return nil
	}
	return fmt.Errorf("%s of %s has %s behind which records of the same key wait (on_failure.park), such as partition %d offset %d: later ones would overtake them in another partition; replay or discard them first (idemgen dead)",
		name.Topic, name.Consumer, count(open, "letter"), partition, offset)
}

// count says how many there are.
func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// passed says what becomes of the offsets from from to before to.
func passed(from, to int64, one, many string) string {
	if to-from == 1 {
		return fmt.Sprintf("1 offset, %d, %s", from, one)
	}
	return fmt.Sprintf("%d offsets, %d to %d, %s", to-from, from, to-1, many)
}

// Leave is what a release says beside that the cause is gone.
type Leave struct {
	// Older says that an older version of the service may go on, too: it does not recognise events
	// that the newer one applied under another identity.
	Older bool
	// Partitions is how many the topic may have; 0 is as many as before. From then on records of
	// one key may be in two partitions of the topic, and their order across the change is not kept.
	Partitions int32
	// Fewer says that the ledger's number was confirmed by mistake: Kafka takes no partition away.
	Fewer bool
}

// Release lets a partition try again after its cause is gone. A ledger that has the number of
// partitions already is left alone.
func Release(ctx context.Context, db DB, name Name, leave Leave, by By) (Change, error) {
	n := leave.Partitions
	if n > 0 {
		if name.Partition >= n && !leave.Fewer {
			return Change{}, fmt.Errorf("%v: there is no partition %d of %d, which are numbered from 0", name, name.Partition, n)
		}
		if err := nothingWaits(ctx, db, name); err != nil {
			return Change{}, err
		}
	}
	return begin(ctx, db, name, by, func(t ledger.Tail) (ledger.Row, string, error) {
		row := ledger.Row{Kind: ledger.Operator, Next: t.Next, Epoch: t.Epoch}
		effect := "the partition tries again"
		if leave.Older {
			none := ledger.NoIdentity
			row.Def, effect = &none, "any version of the service may go on, also an older one"
		}
		switch {
		case n == 0:
			return row, effect, nil
		case n == t.Parts && !leave.Older:
			return ledger.Row{}, fmt.Sprintf("already %s, nothing appended", count(int64(n), "partition")), nil
		case n < t.Parts && !leave.Fewer:
			return ledger.Row{}, "", fmt.Errorf("%v: the ledger says %d partitions already (%s), and %d are fewer: Kafka takes no partition away, and a topic that was made again "+
				"has another id, and a ledger of its own (set --from none); --fewer says that %d were confirmed by mistake", name, t.Parts, last(t), n, t.Parts)
		}
		row.Parts = &n
		return row, effect + fmt.Sprintf("; the topic may have %s, no longer %d", count(int64(n), "partition"), t.Parts), nil
	})
}

// last describes the last row: who appended it, if it is one that says so. What a batch says is
// for the next owner.
func last(t ledger.Tail) string {
	text := fmt.Sprintf("row %d, %s", t.Seq, kinds[t.Kind])
	switch {
	case t.Info == "" || t.Kind == ledger.Batch:
		return text
	case t.Writer == ledger.HandBack:
		return text + ", " + t.Info
	}
	return text + " by " + t.Info
}

// begin finds the stream and runs a command on it.
func begin(ctx context.Context, db DB, name Name, by By, decide func(ledger.Tail) (ledger.Row, string, error)) (Change, error) {
	info, err := by.info(ctx, db)
	if err != nil {
		return Change{}, err
	}
	status, err := StreamOf(ctx, db, name)
	if err != nil {
		return Change{}, err
	}
	c := &change{db: db, status: status, info: info, dry: by.DryRun, decide: decide}
	return c.run(ctx)
}

// What the ledger keeps of people is shown in lists and in errors.
const (
	mostReason   = 500 // characters
	mostOperator = 100
)

// oneLine is a text with single blanks between its words. What a terminal would act on, and
// what is too long to be read, is refused.
func oneLine(what, text string, most int) (string, error) {
	text = strings.Join(strings.Fields(text), " ")
	if n := utf8.RuneCountInString(text); n > most {
		return "", fmt.Errorf("%s has %d characters, more than %d: keep the rest elsewhere, and say where", what, n, most)
	}
	bad := func(r rune) bool { return !unicode.IsPrint(r) }
	if !utf8.ValidString(text) || strings.ContainsFunc(text, bad) {
		return "", fmt.Errorf("%s holds characters that cannot be printed", what)
	}
	return text, nil
}

// info is what the row says of its author.
func (b By) info(ctx context.Context, db DB) (string, error) {
	said, err := b.said(ctx, db)
	if err != nil {
		return "", err
	}
	return "operator " + said, nil
}

// said is who acts, and why.
func (b By) said(ctx context.Context, db DB) (string, error) {
	why, err := oneLine("the reason", b.Reason, mostReason)
	if err == nil && why == "" {
		err = errors.New("a reason is required: the ledger keeps it for those who come after you")
	}
	if err != nil {
		return "", err
	}
	who, err := oneLine("the operator's name", b.Operator, mostOperator)
	if err != nil {
		return "", err
	}
	if who == "" {
		if err := db.QueryRow(ctx, `SELECT session_user::text`, pgx.QueryExecModeExec).Scan(&who); err != nil {
			return "", Explain(err)
		}
	}
	return who + ": " + why, nil
}
