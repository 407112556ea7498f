package operate

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Opened is a letter with its record.
type Opened struct {
	Letter
	// LedgerAge is the age of the ledger's last row in seconds; nil if its rows are gone. The
	// owner of the partition, if there is one, has written nothing since.
	LedgerAge *float64 `json:"ledger_age_seconds"`
	// Reported is what the owner of the partition reports; nil if no process reports it.
	Reported *Reported `json:"reported"`
	Record   *Record   `json:"record"`            // nil if it is not kept, was erased, or is damaged
	Damaged  string    `json:"damaged,omitempty"` // why the stored record cannot be read
	// Returned is the recorded result of its effect, which a replay uses; nil if there is none, or
	// it is not kept.
	Returned *Bytes `json:"returned"`
	// Response is the beginning of what the other side answered to the call that was refused; nil
	// if it is not known, or not kept.
	Response *Bytes `json:"response"`
	// First is the row that applied the first event with the key of a conflict; nil if it is no
	// longer known, or if the letter is not a conflict.
	First *Holder `json:"first_copy"`
	// Earlier are the other letters of the same offset, the newest first. There are some if the
	// offset was read again.
	Earlier []Letter `json:"earlier"`
	Next    []string `json:"next"` // what a person can do
}

// Record is a record as it was read.
type Record struct {
	Time     *time.Time `json:"time"`      // nil if it has none
	ByBroker bool       `json:"by_broker"` // the broker set the time when it appended the record
	Key      *Bytes     `json:"key"`       // nil if it has none
	Headers  []Header   `json:"headers"`
	Value    *Bytes     `json:"value"` // nil is a tombstone
}

// Header is one header of a record.
type Header struct {
	Name  string `json:"name"`
	Value *Bytes `json:"value"` // nil if it has none
}

// Bytes are bytes that may be text. Either Text or Hex is set.
type Bytes struct {
	Text *string `json:"text,omitempty"` // nil if people cannot read the bytes as they are
	Hex  string  `json:"hex,omitempty"`
	raw  []byte
}

// Raw are the bytes themselves.
func (b *Bytes) Raw() []byte { return b.raw }

// newBytes returns nil for nil.
func newBytes(raw []byte) *Bytes {
	if raw == nil {
		return nil
	}
	b := &Bytes{raw: raw}
	if text := string(raw); printable(text) {
		b.Text = &text
	} else {
		b.Hex = hex.EncodeToString(raw)
	}
	return b
}

// nearLettersSQL selects the letters nearest to an offset, without those at it.
const nearLettersSQL = `
SELECT s.partition || ':' || d.offs FROM idem_stream s, (
    (SELECT offs FROM idem_dead_letter WHERE stream = $1::int AND offs < $2::bigint GROUP BY offs ORDER BY offs DESC LIMIT 5)
    UNION ALL (SELECT offs FROM idem_dead_letter WHERE stream = $1::int AND offs > $2::bigint GROUP BY offs ORDER BY offs LIMIT 5)) d
WHERE s.stream = $1::int ORDER BY abs(d.offs - $2::bigint), d.offs LIMIT 5`

// Open returns the letter of a record that [FindLetters] returns, with the record. It returns a
// [NotFoundError] for a partition without a ledger.
func Open(ctx context.Context, db DB, name Name, offset int64) (*Opened, error) {
	status, all, err := atOffset(ctx, db, name, offset)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, noLetter(ctx, db, &status, offset)
	}
	is := current(all)
	o := &Opened{Letter: all[is], Earlier: slices.Concat([]Letter{}, all[:is], all[is+1:])}
	if t := status.Tail; t != nil {
		o.LedgerAge = &t.AgeSeconds
	}
	if !status.Former {
		if o.Reported, err = reportOf(ctx, db, status); err != nil {
			return nil, err
		}
	}
	stored, err := o.Stored(ctx, db)
	if err == nil {
		o.Returned, o.Response = newBytes(stored.Returned), newBytes(stored.Response)
		var unread error
		if o.Record, unread = parse(stored.Record); unread != nil {
			o.Damaged = unread.Error()
		}
	}
	if err == nil && o.Class == wire.ReasonConflict && o.Key != "" {
		err = o.conflict(ctx, db, &status)
	}
	if err != nil {
		return nil, err
	}
	o.Next = o.next()
	return o, nil
}

// conflict reads what is known about the first event of a conflict, and about a call for the
// second one.
func (o *Opened) conflict(ctx context.Context, db DB, of *Status) error {
	var key [16]byte
	_, err := hex.Decode(key[:], []byte(o.Key))
	var first []*Holder
	if err == nil {
		first, err = inShared(ctx, db, o.Consumer, key)
	}
	if err == nil && len(first) == 0 {
		first, err = inChains(ctx, db, []int32{of.Stream}, key, o.Seq)
	}
	if len(first) > 0 {
		o.First = first[0]
	}
	if err == nil && !o.Called {
		err = o.unusedCall(ctx, db)
	}
	return err
}

// unusedCallSQL selects a call whose result no event's rows depend on.
const unusedCallSQL = `SELECT coalesce(result, 'null') FROM idem_lease WHERE consumer = $1 AND key = $2::uuid AND state = 'd'`

// unusedCall finds the call that was made for a conflict, by a process that died before it
// detected the conflict. For a call of the other event with the key, rows were written.
func (o *Opened) unusedCall(ctx context.Context, db DB) error {
	if ok, err := has(ctx, db, "idem_lease"); err != nil || !ok {
		return err
	}
	var returned []byte
	found, err := one(ctx, db, []any{&returned}, unusedCallSQL, o.Consumer, o.Key)
	if found {
		o.Called, o.Returned = true, newBytes(returned)
	}
	return err
}

// noLetter returns the error for an offset without a letter.
func noLetter(ctx context.Context, db DB, of *Status, offset int64) error {
	near, err := query(ctx, db, pgx.RowTo[string], nearLettersSQL, of.Stream, offset)
	text := ", nor at any other"
	if len(near) > 0 {
		text = "; the nearest are " + strings.Join(near, ", ")
	}
	return cmp.Or(err, fmt.Errorf("%v has no dead letter at offset %d%s", of.Name, offset, text))
}

// parse reads a stored record; nil if there is none.
func parse(stored []byte) (*Record, error) {
	if stored == nil {
		return nil, nil
	}
	m, err := record.Parse(stored)
	if err != nil {
		return nil, err
	}
	r := &Record{ByBroker: m.Appended, Key: newBytes(m.Key), Value: newBytes(m.Value), Headers: []Header{}}
	if !m.Time.IsZero() {
		r.Time = &m.Time
	}
	for _, h := range m.Headers {
		r.Headers = append(r.Headers, Header{h.Name, newBytes(h.Value)})
	}
	return r, nil
}

// CommandName returns the arguments of a command that name the letter.
func (l *Letter) CommandName() string { return l.commandName(l.Offset) }

func (l *Letter) commandName(offset int64) string {
	name := fmt.Sprintf("%s %d:%d --consumer %s", l.Topic, l.Partition, offset, l.Consumer)
	if l.Former {
		name += " --topic-id " + l.TopicID
	}
	return name
}

// next returns the steps that remain for an operator, with commands where there are any.
func (o *Opened) next() (steps []string) {
	replay := "idemgen dead replay " + o.CommandName() + ` --reason `
	discard := "idemgen dead discard " + o.CommandName() + ` --reason "why"`
	switch {
	case !o.Open():
		return []string{"nothing: it is " + o.State}
	case o.Former:
		return []string{"its topic was recreated, so it cannot be replayed: let the producer send the event to the new topic, and close this one: " + discard}
	case o.State == "waiting" && o.Behind == nil:
		return []string{"nothing: its turn is next"}
	case o.State == "waiting":
		return []string{"replay or discard the dead letter behind which it waits; then it continues by itself: idemgen dead show " + o.commandName(*o.Behind)}
	case o.ErasedBy != "":
		return []string{"close it: " + discard}
	case o.Record == nil || o.Class == wire.ReasonConflict:
		// it cannot be replayed, or would be rejected again
	case o.Class == wire.ReasonInterrupted:
		steps = []string{
			"ask the provider what the call did; if it did nothing: " + replay + `"how you know"`,
			"if it succeeded: " + replay + `"how you know" --result 'what it returned, as JSON'`,
			"the result has the members of the type that effect.result of " + o.Event + " names in the spec; it is null if there is none",
		}
	case o.Class == wire.ReasonResult:
		steps = []string{
			"run a version of the service that reads what the call returned, then: " + replay + `"what was fixed"`,
			"or say what it returned: " + replay + `"how you know" --result 'the result, as JSON'`,
		}
	default:
		steps = []string{"fix the cause, then: " + replay + `"what was fixed"`}
	}
	return append(steps, "close it without effect: "+discard, o.producer())
}

// producer returns what the producer can do.
func (o *Opened) producer() string {
	switch {
	case o.Called && o.Class == wire.ReasonConflict:
		return "the call of its effect was made anyway. Under another key it would be repeated: undo it at the provider first, or repair the rows by hand"
	case o.Called:
		return "a duplicate from the producer does not repeat the call as long as the result is kept"
	case o.Class == wire.ReasonConflict:
		return "let the producer send the event under a key of its own: this key is another event's"
	case o.Class == wire.ReasonInterrupted:
		return "a duplicate from the producer does not repeat the call, either: docs/effects.md, When an operator must decide"
	case o.Parks:
		return "if the event itself is wrong, let the producer send a corrected one, and discard this one: later records of the record key wait until then"
	}
	return "or let the producer send the event again once the cause is fixed: a dead letter claims no key"
}
