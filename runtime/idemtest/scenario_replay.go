package idemtest

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
)

// mendedAndReplayed has the database refuse one record of a topic that parks. Those of its record
// key wait behind it. Then nothing refuses it any more, a person asks for a replay, and all must
// be as if these records had come last.
func mendedAndReplayed(b *trial) {
	b.inexact = true
	owners, refused := b.owners(), recordOffset{offset: -1}
	for _, r := range b.log {
		m := b.at(r, r.message.Partition, r.message.Offset)
		if refused.offset >= 0 || !hasNextOfItsKey(b, r) {
			owners.deliver([]idem.Message{m})
			continue
		}
		refuseWrites(b)
		var err error
		b.leavesNothing([]record{r}, func() { _, err = b.try(b.t.Context(), owners.writer(partitionOf(m)), []idem.Message{m}) })
		allowWrites(b)
		if halted, is := errors.AsType[*idem.HaltedError](err); is {
			b.t.Skipf("no record waits for another one of its record key: %v", halted.Code)
		} else if err != nil {
			b.t.Fatal(err)
		}
		switch parks := b.texts(letterSQL("(parks AND record IS NOT NULL)::text", "d"), m.Topic, m.Partition, m.Offset); {
		case slices.Equal(parks, []string{"true"}):
			refused = placeOf(m)
		case len(parks) > 0:
			b.t.Skip("no record waits for another one that is kept: on_failure does not say so")
		}
	}
	if refused.offset < 0 {
		b.t.Skip("no two records of one record key write rows")
	}
	waiting := b.texts(waitingSQL, refused.topic, refused.number, refused.offset)
	if len(waiting) == 0 {
		b.t.Errorf("nothing waits behind the dead letter of offset %d", refused.offset)
	}
	Exec(b.t, b.db, `UPDATE idem_dead_letter SET asked = 'r', asked_at = clock_timestamp(), asked_by = 'a person: mended' WHERE state = 'd' AND offs = $1`, refused.offset)
	settle(b, owners.writer(refused.partition))
	if answer := b.texts(letterSQL("coalesce(answer, '')", "d"), refused.topic, refused.number, refused.offset); len(answer) > 0 {
		b.t.Errorf("the letter of offset %d stays dead: %s", refused.offset, strings.Join(answer, ""))
	}
	b.inOrder(last(b.log, func(r record) bool {
		at := placeOf(r.message)
		return at == refused || at.partition == refused.partition && slices.Contains(waiting, strconv.FormatInt(at.offset, 10))
	}))
}

// waitingSQL reads the offsets of the records that wait behind the letter at $1, $2 and $3.
const waitingSQL = `
SELECT w.offs::text FROM idem_dead_letter d JOIN idem_stream s USING (stream)
JOIN idem_dead_letter w ON w.stream = d.stream AND w.order_key = d.order_key AND w.state = 'w'
WHERE s.topic = $1 AND s.partition = $2 AND d.offs = $3`

// hasNextOfItsKey reports whether a record is applied, and one of its record key comes later.
func hasNextOfItsKey(b *trial, r record) bool {
	if r.message.Key == nil || b.isDead(r) || keyWaits(b, r) {
		return false
	}
	later := func(o record) bool {
		return o.index > r.index && o.message.Topic == r.message.Topic && bytes.Equal(o.message.Key, r.message.Key)
	}
	return slices.ContainsFunc(b.log, later)
}

// letterSQL reads something of the letter at $1, $2 and $3 if it is in a state.
func letterSQL(what, state string) string {
	return `
SELECT ` + what + ` FROM idem_dead_letter d JOIN idem_stream s USING (stream)
WHERE s.topic = $1 AND s.partition = $2 AND d.offs = $3 AND d.state = '` + state + `'`
}

// refuseWrites has the database refuse whatever writes into a table of the service.
func refuseWrites(b *trial) {
	b.t.Helper()
	Exec(b.t, b.db, `
CREATE OR REPLACE FUNCTION idemtest_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE 'the test refuses it' USING ERRCODE = 'check_violation';
END $$`)
	for _, t := range b.tables {
		Exec(b.t, b.db, `CREATE TRIGGER idemtest_refuse BEFORE INSERT OR UPDATE OR DELETE ON `+t.sql()+` FOR EACH ROW EXECUTE FUNCTION idemtest_refuse()`)
	}
}

func allowWrites(b *trial) {
	b.t.Helper()
	for _, t := range b.tables {
		Exec(b.t, b.db, `DROP TRIGGER idemtest_refuse ON `+t.sql())
	}
}

// settle lets an owner settle what operators ask, until no request and no record that may continue
// is left.
func settle(b *trial, w *Writer) {
	b.t.Helper()
	const open = `
SELECT d.offs::text FROM idem_dead_letter d WHERE d.asked IS NOT NULL OR d.state = 'w' AND NOT EXISTS (
    SELECT FROM idem_dead_letter o WHERE o.stream = d.stream AND o.order_key = d.order_key AND o.state = 'd')`
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if _, err := w.Apply(b.effects.in(b.t.Context()), nil); err != nil {
			b.t.Errorf("an owner carries out the requests: %v", err)
			return
		}
		left := b.texts(open)
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			b.t.Errorf("the letters of offsets %s are not settled", strings.Join(left, ", "))
			return
		}
	}
}
