//go:build cgo

package operators

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// way leads a consumer at work into a halt and out of it again.
type way struct {
	code  halt.Code
	cause func(l *live) // brings the halt about
	cure  func(l *live) // what a person does beside the command; nil: nothing
	// redeployed says that the cure is another version, or other settings, of the service.
	redeployed bool
	effects    string // in the end, with record 100, which is sent after the command
}

// ways has a way out of every halt. Each begins with records 1 to 3 in their table, at
// position 3.
var ways = []way{
	{code: halt.TopicRecreated, cause: func(l *live) {
		remake(l)
		l.produce("put 4")
	}, effects: "1=1 2=1 3=1 4=1 100=1"},
	{code: halt.RetentionPassed, cause: func(l *live) {
		l.stop()
		l.produce("put 4", "put 5", "put 6")
		if err := l.broker.DeleteRecords(liveTopic, 0, 5); err != nil {
			l.t.Fatal(err)
		}
		l.start()
	}, effects: "1=1 2=1 3=1 6=1 100=1"},
	{code: halt.LogTruncated, cause: func(l *live) {
		l.idemgen("idemgen stream set --consumer live --topic live.v1 --partition 0 --to 1000 --reason too-far")
		l.eventually("the end of the log is seen", func() bool {
			err := l.current.Health().Err()
			return err != nil && strings.Contains(err.Error(), "the log ends at 3, below the ledger's position 1000, which an operator's row has set")
		})
		l.produce("put 4") // while it stands: the command must not pass it
	}, effects: "1=1 2=1 3=1 4=1 100=1"},
	{code: halt.PartitionsChanged, cause: func(l *live) {
		request := kmsg.NewPtrCreatePartitionsRequest()
		topic := kmsg.NewCreatePartitionsRequestTopic()
		topic.Topic, topic.Count = liveTopic, 2
		request.Topics = append(request.Topics, topic)
		l.ask(request)
		l.produceTo(1, "put 50") // perhaps a later record of a key that partition 0 holds
		l.eventually("the new partition is halted, too", func() bool {
			err := l.current.Health().Err()
			return err != nil && strings.Count(err.Error(), "["+string(halt.PartitionsChanged)+"; then: ") == 2
		})
		if e := l.effects(); e != "1=1 2=1 3=1" {
			l.t.Errorf("effects while it stands: %s", e)
		}
	}, effects: "1=1 2=1 3=1 50=1 100=1"},
	{code: halt.LedgerMissing, cause: func(l *live) {
		l.stop()
		idemtest.Exec(l.t, l.db, `TRUNCATE idem_ledger, idem_stream`) // as in another database
		if err := l.broker.Commit(l.t.Context(), "live", liveTopic, []int64{3}); err != nil {
			l.t.Fatal(err)
		}
		l.start()
	}, effects: "1=1 2=1 3=1 100=1"},
	{code: halt.LedgerGone, cause: func(l *live) {
		l.stop()
		if err := l.broker.Commit(l.t.Context(), "live", liveTopic, []int64{3}); err != nil {
			l.t.Fatal(err)
		}
		idemtest.Exec(l.t, l.db, `DELETE FROM idem_ledger`)
		l.start()
	}, effects: "1=1 2=1 3=1 100=1"},
	{code: halt.KeysLost, cause: func(l *live) {
		l.stop()
		l.spec.Topics[0].Window = time.Hour
		idemtest.Exec(l.t, l.db, `SELECT idem_keys_open('live', '1 hour'); INSERT INTO idem_keys VALUES (1, gen_random_uuid(), 1, 1, 1, 1);
SELECT idem_keys_seal('live', 1, idem_keys_prepare(), '1 hour'); SELECT idem_keys_count('live', 1); DELETE FROM idem_keys`)
		l.start()
		l.produce("put 4")
	}, cure: func(l *live) {
		idemtest.Exec(l.t, l.db, `ALTER TABLE idem_keys_1 DISABLE TRIGGER ALL; INSERT INTO idem_keys VALUES (1, gen_random_uuid(), 1, 1, 1, 1);
ALTER TABLE idem_keys_1 ENABLE TRIGGER ALL`)
	}, effects: "1=1 2=1 3=1 4=1 100=1"},
	{code: halt.NewerVersion, cause: func(l *live) {
		l.stop()
		l.spec.Identity = wire.Identity{Writes: 2, Knows: []uint32{1, 2}}
		l.start()
		l.produce("put 4")
		l.eventually("the newer version works", func() bool { return l.effects() == "1=1 2=1 3=1 4=1" })
		l.stop()
		l.spec.Identity = wire.Identity{Writes: 1, Knows: []uint32{1}}
		l.start()
	}, effects: "1=1 2=1 3=1 4=1 100=1"},
	{code: halt.RecordRefused, cause: func(l *live) {
		l.stop()
		l.spec.Topics[0].OnFailure.Stop = true
		l.start()
		idemtest.Exec(l.t, l.db, `ALTER TABLE effects ADD CONSTRAINT no_five CHECK (id <> 5)`)
		l.produce("put 4", "put 5", "put 6")
	}, cure: func(l *live) {
		idemtest.Exec(l.t, l.db, `ALTER TABLE effects DROP CONSTRAINT no_five`)
	}, effects: "1=1 2=1 3=1 4=1 5=1 6=1 100=1"},
	{code: halt.DeadLetters, cause: func(l *live) {
		l.stop()
		l.spec.Topics[0].OnFailure.StopAfter = 2
		l.start()
		idemtest.Exec(l.t, l.db, `ALTER TABLE effects ADD CONSTRAINT small CHECK (id < 10) NOT VALID`)
		l.produce("put 4", "put 11", "put 12", "put 13")
	}, cure: func(l *live) {
		idemtest.Exec(l.t, l.db, `ALTER TABLE effects DROP CONSTRAINT small`)
	}, effects: "1=1 2=1 3=1 4=1 13=1 100=1"},
	{code: halt.LetterRefused, cause: func(l *live) {
		idemtest.Exec(l.t, l.db, `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END'`)
		idemtest.Exec(l.t, l.db, `CREATE TRIGGER refuse BEFORE INSERT ON idem_dead_letter FOR EACH ROW EXECUTE FUNCTION refuse()`)
		idemtest.Exec(l.t, l.db, `ALTER TABLE effects ADD CONSTRAINT no_five CHECK (id <> 5)`)
		l.produce("put 4", "put 5", "put 6")
	}, cure: func(l *live) {
		idemtest.Exec(l.t, l.db, `DROP TRIGGER refuse ON idem_dead_letter`)
	}, effects: "1=1 2=1 3=1 4=1 6=1 100=1"},
	{code: halt.Handler, cause: func(l *live) {
		l.produce("put 4", "call 5", "put 6")
	}, cure: func(l *live) {
		l.handle(func(ctx context.Context, tx wire.Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO effects VALUES (5, 1)`)
			return err
		})
	}, redeployed: true, effects: "1=1 2=1 3=1 4=1 5=1 6=1 100=1"},
	{code: halt.Database, cause: func(l *live) {
		idemtest.Exec(l.t, l.db, `ALTER TABLE effects RENAME times TO often`)
		l.produce("put 4")
	}, cure: func(l *live) {
		idemtest.Exec(l.t, l.db, `ALTER TABLE effects RENAME often TO times`)
	}, effects: "1=1 2=1 3=1 4=1 100=1"},
	{code: halt.Pooler, cause: func(l *live) { // the error of a statement that comes to another server process
		idemtest.Exec(l.t, l.db, `CREATE FUNCTION elsewhere() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE invalid_sql_statement_name; END'`)
		idemtest.Exec(l.t, l.db, `CREATE TRIGGER elsewhere BEFORE INSERT ON effects FOR EACH ROW EXECUTE FUNCTION elsewhere()`)
		l.produce("put 4")
	}, cure: func(l *live) {
		idemtest.Exec(l.t, l.db, `DROP TRIGGER elsewhere ON effects`)
	}, redeployed: true, effects: "1=1 2=1 3=1 4=1 100=1"},
	{code: halt.Runtime, cause: func(l *live) {
		l.panics.Store(true)
		l.produce("put 4")
	}, cure: func(l *live) { l.panics.Store(false) }, redeployed: true, effects: "1=1 2=1 3=1 4=1 100=1"},
	{code: halt.Paused, cause: func(l *live) {
		l.idemgen("idemgen stream pause --consumer live --topic live.v1 --reason test")
		l.produce("put 4")
	}, effects: "1=1 2=1 3=1 4=1 100=1"},
}

// remake deletes the topic and makes it again.
func remake(l *live) {
	l.t.Helper()
	gone := kmsg.NewPtrDeleteTopicsRequest()
	gone.TopicNames = []string{liveTopic}
	name := liveTopic
	gone.Topics = []kmsg.DeleteTopicsRequestTopic{{Topic: &name}}
	l.ask(gone)
	made := kmsg.NewPtrCreateTopicsRequest()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = liveTopic, 1, 1
	made.Topics = append(made.Topics, topic)
	l.ask(made)
}

// From every halt the command that its error prints leads back to work, with nothing lost
// and nothing doubled.
func TestEveryHaltHasAWayOut(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	for _, code := range haltCodes(t) {
		if !slices.ContainsFunc(ways, func(w way) bool { return w.code == code }) {
			t.Errorf("no way out of %s is tested", code)
		}
	}
	for _, w := range ways {
		t.Run(string(w.code), func(t *testing.T) {
			t.Parallel()
			l := newLive(t)
			l.start()
			l.produce("put 1", "put 2", "put 3")
			l.eventually("three records", func() bool { return l.effects() == "1=1 2=1 3=1" })
			w.cause(l)
			halted := l.halts(w.code)
			if w.redeployed {
				l.stop()
			}
			if w.cure != nil {
				w.cure(l)
			}
			l.idemgen(halted.Ways[0].String())
			if w.redeployed {
				l.start()
			}
			l.produce("put 100")
			l.eventually("records flow", func() bool { return l.effects() == w.effects })
			l.eventually("health", func() bool { return l.current.Health().Err() == nil })
			list, err := operate.List(t.Context(), l.db, "live")
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(list, func(s operate.Status) bool {
				return s.LastOperatorRow != nil && strings.HasSuffix(s.LastOperatorRow.Info, ": "+string(w.code))
			}) {
				t.Errorf("the ledger does not say why an operator acted: %+v", list)
			}
		})
	}
}

// A database that was reset beside a broker that was kept is filled again by the second command
// of the error; the first one leaves the rows of the records before it out.
func TestResetDatabaseHasTwoWays(t *testing.T) {
	for name, way := range map[string]struct {
		command func(*idem.HaltedError) string
		effects string
	}{
		"skip":       {func(e *idem.HaltedError) string { return e.Ways[0].String() }, "3=1 100=1"},
		"read again": {func(e *idem.HaltedError) string { return e.Ways[1].String() }, "1=1 2=1 3=1 100=1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLive(t)
			l.produce("put 1", "put 2", "put 3")
			if err := l.broker.Commit(t.Context(), "live", liveTopic, []int64{2}); err != nil {
				t.Fatal(err)
			}
			l.start()
			l.idemgen(way.command(l.halts(halt.LedgerMissing)))
			l.produce("put 100")
			l.eventually("records flow", func() bool { return l.effects() == way.effects })
		})
	}
}

// A record that is refused can also be passed, with the command that the error prints, for one
// that no second try cures: it has no effect, and nothing else is lost.
func TestSkippedRecordHasNoEffect(t *testing.T) {
	for name, bad := range map[string]string{"database": "put 2", "decode": "put x"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLive(t)
			l.spec.Topics[0].OnFailure.Stop = true
			idemtest.Exec(t, l.db, `ALTER TABLE effects ADD CONSTRAINT no_two CHECK (id <> 2)`)
			l.start()
			l.produce("put 1", bad, "put 3")
			halted := l.halts(halt.RecordRefused)
			if halted.Offset != 1 {
				t.Fatalf("it stands before offset %d", halted.Offset)
			}
			if text := l.current.Health().Err().Error(); !strings.Contains(text, "[or: "+halted.Ways[1].String()+"] [with it records before offset") {
				t.Errorf("Health does not tell how to pass it: %s", text)
			}
			l.idemgen(halted.Ways[1].String())
			l.eventually("the record behind it", func() bool { return l.effects() == "1=1 3=1" })
		})
	}
}

// A worker at work follows its operator from its next batch on, without a halt or a restart.
func TestWorkerFollowsItsOperator(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	l.start()
	l.produce("put 1", "put 2", "put 3")
	l.eventually("three records", func() bool { return l.effects() == "1=1 2=1 3=1" })
	l.idemgen("idemgen stream set --consumer live --topic live.v1 --partition 0 --from 3 --to 1 --apply-again --reason test")
	l.produce("put 4")
	l.eventually("two of them again", func() bool { return l.effects() == "1=1 2=2 3=2 4=1" })
	l.idemgen("idemgen stream set --consumer live --topic live.v1 --partition 0 --to 0 --apply-again --reason test --dry-run")
	l.idemgen("idemgen stream release --consumer live --topic live.v1 --all --reason test")
	l.produce("put 5")
	l.eventually("one more", func() bool { return l.effects() == "1=1 2=2 3=2 4=1 5=1" })
}

// A partition that stands although the last row is an operator's goes on standing, until
// the next row of one.
func TestHaltBehindAnOperatorsRowStays(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	l.start()
	l.produce("put 1")
	l.eventually("a record", func() bool { return l.effects() == "1=1" })
	l.idemgen("idemgen stream release --consumer live --topic live.v1 --partition 0 --partitions 7 --reason wrong")
	l.produce("put 2")
	halted := l.halts(halt.PartitionsChanged)
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond / 4) {
		if err := l.current.Health().Err(); err == nil || !strings.Contains(err.Error(), string(halt.PartitionsChanged)) {
			t.Fatalf("it does not stand: %v", err)
		}
	}
	l.idemgen(halted.Ways[0].String()) // back to the fewer that there are
	l.eventually("the record", func() bool { return l.effects() == "1=1 2=1" })
}
