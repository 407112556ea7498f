package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/proof/oracle"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/audit"
	"github.com/idemgen/idemgen/scripts/internal/script"
	"github.com/idemgen/idemgen/scripts/internal/shop"
)

// dataFaults are what producers do.
var dataFaults = []fault{
	{name: "duplicate flood", do: duplicateFlood},
	{name: "same key, other payload", do: conflicts},
	{name: "duplicates in a batch, across batches, across partitions", do: copies},
	{name: "some records are poison", do: poisonSome},
	{name: "every record is poison", do: poisonAll},
}

// duplicateFlood sends the whole log ten times again.
func duplicateFlood(ctx context.Context, t *theatre) (string, error) {
	const times = 10
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	if err := t.applied(ctx, 1500); err != nil {
		return "", err
	}
	log := t.messages()
	for range times {
		var again []*wire.Message
		for _, m := range log {
			again = append(again, shop.Again(m))
		}
		if err := t.send(ctx, again...); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d records, %d times again", len(log), times), nil
}

func isPlaced(m *wire.Message) bool {
	return strings.Contains(string(m.Value), `"customer_id":"C-`)
}

func conflicts(ctx context.Context, t *theatre) (string, error) {
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	if err := t.applied(ctx, 1000); err != nil {
		return "", err
	}
	var changed []*wire.Message
	for _, m := range t.messages() {
		if isPlaced(m) && len(changed) < 50 {
			changed = append(changed, shop.Changed(m))
		}
	}
	err := t.compose(ctx, func(m *shop.Maker) []*wire.Message { return append(changed, events(200)(m)...) })
	return fmt.Sprintf("%d times; each a dead letter", len(changed)), err
}

// copies sends events several times: next to each other, far from each other, and, once
// they were applied, in other partitions.
func copies(ctx context.Context, t *theatre) (string, error) {
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	for range 5 {
		err := t.compose(ctx, func(m *shop.Maker) (list []*wire.Message) {
			batch := events(150)(m)
			for _, e := range batch {
				list = append(list, e, shop.Again(e))
				if e.Value == nil {
					list = list[:len(list)-1] // a tombstone has no key of its own
				}
			}
			for _, e := range batch[:50] {
				if e.Value != nil {
					list = append(list, shop.Again(e))
				}
			}
			return list
		})
		if err != nil {
			return "", err
		}
	}
	if err := t.caughtUp(ctx); err != nil {
		return "", err
	}
	elsewhere := 0
	err := t.compose(ctx, func(*shop.Maker) (list []*wire.Message) {
		for _, m := range t.messages() {
			if m.Value != nil && elsewhere < 200 {
				c := shop.Again(m)
				c.Partition = (c.Partition + 1) % partitions
				list = append(list, c)
				elsewhere++
			}
		}
		return list
	})
	return fmt.Sprintf("750 events at once and later, %d of them in another partition", elsewhere), err
}

// poisonSome spreads records that cannot be decoded, or that the database refuses, over
// good ones.
func poisonSome(ctx context.Context, t *theatre) (string, error) {
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	if err := t.applied(ctx, 200); err != nil {
		return "", err
	}
	poison := 0
	for range 6 {
		err := t.compose(ctx, func(m *shop.Maker) (list []*wire.Message) {
			for range 3 {
				list = append(list, events(60)(m)...)
				list = append(list, m.Broken(poison).Message, m.Orphan())
				poison += 2
			}
			return list
		})
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d of them; each a dead letter", poison), nil
}

// stopAfter is how many dead letters in a row stop a partition (on_failure.stop_after).
const stopAfter = 20

// poisonAll has a deployment that refuses every payment. The partitions must stop before the
// topic has gone into the dead letters; released under a good deployment they go on.
func poisonAll(ctx context.Context, t *theatre) (string, error) {
	const payments = 1000
	if err := t.startWorking(ctx, 1, script.Handler+"="+script.Refuse); err != nil {
		return "", err
	}
	err := t.compose(ctx, func(m *shop.Maker) (list []*wire.Message) {
		for range 100 {
			list = append(list, m.Placed(""))
		}
		for range payments {
			list = append(list, m.Paid())
		}
		return list
	})
	if err != nil {
		return "", err
	}
	commands, err := t.halted(ctx, partitions, halt.DeadLetters)
	if err != nil {
		return "", err
	}
	letters, err := t.refusedPayments(ctx)
	if err != nil {
		return "", err
	}
	if err := t.stopAll(); err != nil {
		return "", err
	}
	if err := t.startWaiting(ctx); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d of %d payments became dead letters, then %d partitions halted; they went on by idemgen stream release", letters, payments, len(commands)),
		t.comeBack(ctx, commands)
}

// refusedPayments counts the dead letters of each partition, which may not be many, and
// makes the audit expect that these were the first payments of the partition.
func (t *theatre) refusedPayments(ctx context.Context) (all int, err error) {
	conn := connect(ctx, t.direct)
	if conn == nil {
		return 0, errors.New("no connection")
	}
	defer conn.Close(ctx)
	left := map[int32]int{}
	rows, err := conn.Query(ctx, `SELECT s.partition, count(*) FROM idem_dead_letter JOIN idem_stream s USING (stream) GROUP BY s.partition`)
	if err != nil {
		return 0, err
	}
	var p int32
	var n int
	if _, err = pgx.ForEachRow(rows, []any{&p, &n}, func() error {
		left[p], all = n, all+n
		if n > stopAfter {
			return fmt.Errorf("partition %d has %d dead letters, more than %d", p, n, stopAfter)
		}
		return nil
	}); err != nil {
		return all, err
	}
	refused := map[string]bool{}
	for _, m := range t.messages() {
		var e struct {
			ID string `json:"payment_id"`
		}
		if err := json.Unmarshal(m.Value, &e); err == nil && e.ID != "" && left[m.Partition] > 0 {
			left[m.Partition]--
			refused[e.ID] = true
		}
	}
	t.paid = func(tables *oracle.Tables, e oracle.Values) error {
		if refused[e.Text("payment_id")] {
			return errors.New("refused")
		}
		return audit.AddPayment(tables, e)
	}
	return all, nil
}
