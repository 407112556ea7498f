package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/outbox"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// debeziumChecks are about Debezium in place of the relay.
var debeziumChecks = []check{
	{name: "Debezium: records are those of the relay", connect: true, do: equalRecords},
	{name: "Debezium: the table is empty behind each commit", connect: true, do: emptyTable},
	{name: "Debezium: an idle outbox lets the log go", connect: true, do: idleSlot},
	{name: "Debezium: an event of 2 MiB", connect: true, do: largeEvent},
	{name: "Debezium: latency and load, beside the relay", connect: true, do: measured},
	{name: "Debezium: Connect is killed", connect: true, do: connectKilled},
	{name: "Debezium: the slot is lost", connect: true, do: slotLost},
}

// emptyTable looks at the table behind each of many commits. The topic of its events is made by
// Connect, on a broker that makes none by itself.
func emptyTable(ctx context.Context, k *kit) (string, error) {
	s, err := k.source()
	if err != nil {
		return "", err
	}
	b := book{kind: "emptied"}
	for range 20 {
		if err := b.write(ctx, s.database, 10); err != nil {
			return "", err
		}
		if n, err := s.count(ctx, `SELECT count(*) FROM idem_outbox`); err != nil || n > 0 {
			return "", fmt.Errorf("%d events in the table (%v)", n, err)
		}
	}
	_, err = b.arrived(ctx, k, 1)
	return fmt.Sprintf("%d events, all sent", len(b.events)), err
}

// idleSlot holds that the slot moves although nothing is written to the outbox, or its database.
func idleSlot(ctx context.Context, k *kit) (string, error) {
	s, err := k.source()
	if err != nil {
		return "", err
	}
	var at string
	if _, err := s.pool.Exec(ctx, `CREATE DATABASE busy`); err != nil {
		return "", err
	}
	cfg := s.pool.Config().ConnConfig
	cfg.Database = "busy"
	busy, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return "", err
	}
	defer busy.Close(context.WithoutCancel(ctx))
	if _, err := busy.Exec(ctx, `CREATE TABLE busy AS SELECT generate_series(1, 200000)`); err != nil {
		return "", err
	}
	if err := busy.QueryRow(ctx, `SELECT pg_current_wal_lsn()::text`).Scan(&at); err != nil {
		return "", err
	}
	err = stage.Until(ctx, patience, func() (bool, error) {
		n, err := s.count(ctx, `SELECT count(*) FROM pg_replication_slots WHERE slot_name = 'idem_outbox' AND confirmed_flush_lsn >= $1::pg_lsn`, at)
		return n == 1, err
	})
	return "the slot passed what was written to another database", err
}

// largeEvent writes an event that Kafka refuses: the connector fails, until both its client and
// the topic take it.
func largeEvent(ctx context.Context, k *kit) (string, error) {
	s, err := k.source()
	if err != nil {
		return "", err
	}
	b := book{kind: "enormous"}
	if err := k.makeTopic(ctx, b.topic(), partitions); err != nil {
		return "", err
	}
	events := b.next(20)
	events[7].Payload = outbox.Bytes(make([]byte, 2<<20))
	if err := outbox.Write(ctx, s.pool, events...); err != nil {
		return "", err
	}
	if err := s.failed(ctx, "RecordTooLargeException"); err != nil {
		return "", err
	}
	if err := k.enlarge(ctx, b.topic()); err != nil {
		return "", err
	}
	s.settings = bytes.Replace(s.settings, []byte("{"), []byte(`{"producer.override.max.request.size": "4194304",`), 1)
	if err := s.begin(ctx); err != nil {
		return "", err
	}
	again, err := b.arrived(ctx, k, 2)
	return fmt.Sprintf("the connector fails; with a larger max.request.size all %d came, %d twice", len(events), again), err
}

// connectKilled kills the worker while events are written.
func connectKilled(ctx context.Context, k *kit) (string, error) {
	s, err := k.source()
	if err != nil {
		return "", err
	}
	b := book{kind: "crashed"}
	if err := k.makeTopic(ctx, b.topic(), partitions); err != nil {
		return "", err
	}
	for i := range 60 {
		if err := b.write(ctx, s.database, 10); err != nil {
			return "", err
		}
		if i == 30 {
			if _, err := k.readWhen(ctx, b.topic(), some); err != nil {
				return "", err
			}
			if err := s.connect.Crash(); err != nil {
				return "", err
			}
		}
	}
	if err := s.connect.Restart(ctx); err != nil {
		return "", err
	}
	if err := s.begin(ctx); err != nil {
		return "", err
	}
	again, err := b.arrived(ctx, k, 2)
	return fmt.Sprintf("%d events, %d came twice under their ids, none is lost", len(b.events), again), err
}

// slotSQL is the statement of docs/operations.md.
const slotSQL = `SELECT slot_name, active, wal_status, safe_wal_size,
       pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn) AS behind
FROM pg_replication_slots WHERE slot_name = 'idem_outbox'`

// slotLost has the server give the slot up, as max_slot_wal_keep_size has it do, which must be
// seen: the SQL says lost, while the connector only waits. Then it does what the page says: events
// from then on are sent, and those before are lost.
func slotLost(ctx context.Context, k *kit) (string, error) {
	s, err := k.source()
	if err != nil {
		return "", err
	}
	if err := s.shows(ctx, 1, `active AND wal_status = 'reserved' AND behind >= 0`); err != nil {
		return "", err
	}
	if err := errors.Join(s.keeps(ctx, k), s.connect.Crash()); err != nil {
		return "", err
	}
	lost, later := book{kind: "lost"}, book{kind: "later"}
	err = errors.Join(k.makeTopic(ctx, lost.topic(), partitions), k.makeTopic(ctx, later.topic(), partitions), lost.write(ctx, s.database, 10))
	if err != nil {
		return "", err
	}
	if err := s.exhaust(ctx); err != nil {
		return "", err
	}
	if err := s.waits(ctx); err != nil {
		return "", err
	}
	if err := s.anew(ctx); err != nil {
		return "", err
	}
	if err := later.write(ctx, s.database, 10); err != nil {
		return "", err
	}
	if _, err := later.arrived(ctx, k, 1); err != nil {
		return "", err
	}
	if records, err := k.read(ctx, lost.topic()); err != nil || len(records) > 0 {
		return "", fmt.Errorf("%d events came that the page calls lost (%v)", len(records), err)
	}
	return "wal_status says so, and the connector does not; begun anew it sends what is written from then on", nil
}

// shows holds for how many slots that the statement of the page shows a condition is true.
func (s *source) shows(ctx context.Context, want int, condition string) error {
	n, err := s.count(ctx, `SELECT count(*) FROM (`+slotSQL+`) s WHERE `+condition)
	if err == nil && n != want {
		err = fmt.Errorf("%d slots are shown with %s, want %d", n, condition, want)
	}
	return err
}

// exhaust writes more of the log than a slot may keep, until it is lost.
func (s *source) exhaust(ctx context.Context) error {
	for _, sql := range []string{`ALTER SYSTEM SET max_slot_wal_keep_size = '16MB'`, `SELECT pg_reload_conf()`} {
		if _, err := s.pool.Exec(ctx, sql); err != nil {
			return err
		}
	}
	err := stage.Until(ctx, patience, func() (bool, error) {
		for _, sql := range []string{`SELECT pg_logical_emit_message(false, 'e2e', '')`, `SELECT pg_switch_wal()`, `CHECKPOINT`} {
			if _, err := s.pool.Exec(ctx, sql); err != nil {
				return false, err
			}
		}
		return s.shows(ctx, 1, `NOT active AND wal_status = 'lost'`) == nil, nil
	})
	if err != nil {
		return fmt.Errorf("the slot is not lost: %w", err)
	}
	return nil
}

// waits starts the worker: its connector waits for the slot that is lost, and calls that running.
func (s *source) waits(ctx context.Context) error {
	if err := s.connect.Restart(ctx); err != nil {
		return err
	}
	if err := s.connect.Put(ctx, connector, s.settings); err != nil {
		return err
	}
	const said = "Cannot obtain valid replication slot"
	err := stage.Until(ctx, patience, func() (bool, error) { return strings.Contains(s.connect.Log(), said), nil })
	if err != nil {
		return fmt.Errorf("the log has no %q: %w", said, err)
	}
	state, why, err := s.connect.Status(ctx, connector)
	if err == nil && state == "FAILED" {
		err = fmt.Errorf("the connector fails, and docs/operations.md says that it waits:\n%s", why)
	}
	return err
}

// anew does what docs/operations.md says of a slot that is lost.
func (s *source) anew(ctx context.Context) error {
	if _, err := s.pool.Exec(ctx, `SELECT pg_drop_replication_slot('idem_outbox')`); err != nil {
		return err
	}
	if err := s.failed(ctx, "no longer available on the server"); err != nil {
		return err
	}
	if err := s.shows(ctx, 0, `true`); err != nil {
		return err
	}
	if err := s.connect.Forget(ctx, connector); err != nil {
		return err
	}
	if err := s.connect.Resume(ctx, connector); err != nil {
		return err
	}
	return s.begin(ctx)
}

// keeps waits until the connector has sent something, and keeps where it stands: one that never
// did makes a new slot without a word.
func (s *source) keeps(ctx context.Context, k *kit) error {
	b := book{kind: "kept"}
	if err := errors.Join(k.makeTopic(ctx, b.topic(), partitions), b.write(ctx, s.database, 10)); err != nil {
		return err
	}
	if _, err := b.arrived(ctx, k, 1); err != nil {
		return err
	}
	return stage.Until(ctx, patience, func() (bool, error) {
		at, err := s.connect.Offsets(ctx, connector)
		return strings.Contains(at, `"lsn"`), err
	})
}

// failed waits until the connector fails, and says a text.
func (s *source) failed(ctx context.Context, text string) error {
	var state, why string
	err := stage.Until(ctx, patience, func() (bool, error) {
		var err error
		state, why, err = s.connect.Status(ctx, connector)
		return state == "FAILED", err
	})
	switch {
	case err != nil:
		return fmt.Errorf("the connector is %q, and not FAILED: %w", state, err)
	case !strings.Contains(why, text):
		return fmt.Errorf("the connector fails, and does not say %q:\n%s", text, why)
	}
	return nil
}
