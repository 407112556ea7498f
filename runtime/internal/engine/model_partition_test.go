package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/proof/model/chain"
	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// stage is where a trace is played on the worker: a partition of its own.
type stage struct {
	t         *testing.T
	db        *pgxpool.Pool
	course    *course
	consumers [2]*rig.Consumer
	writers   [2]*rig.Writer
	killed    [2]bool // the last transaction of the worker was
	partition int32
	log       []idem.Message
	refuse    *int64 // the offset that the handler refuses next
}

// style is how the three messages look.
type style struct {
	name     string
	handlers bool
	key      string // before keys: "@" for keys that are stored in the chain
	poison   uint8  // the message that the database refuses; Messages = none
}

var styles = []style{
	{"written, keys in the chain", false, "@", chain.Messages},
	{"written, keys anywhere", false, "", chain.Messages},
	{"handled, keys in the chain", true, "@", chain.Messages},
	{"handled, keys anywhere", true, "", chain.Messages},
	{"first refused", false, "@", 0},
	{"second refused", false, "", 1},
}

// theatre holds what all stages of a style share.
type theatre struct {
	db        *pgxpool.Pool
	style     style
	consumers [2]*rig.Consumer
	refuse    int64
	stages    int32
}

func newTheatre(t *testing.T, s style) *theatre {
	th := &theatre{db: rig.Database(t), style: s, refuse: -1}
	handle := func(ctx context.Context, tx idem.Tx, row int32) error {
		if d, ok := idem.DeliveryFrom(ctx); ok && d.Message.Offset == th.refuse {
			th.refuse = -1
			return idem.Permanent(errors.New("refused"))
		}
		_, err := tx.Exec(ctx, `INSERT INTO t (id, v) VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET v = t.v + 1`, row)
		return err
	}
	for i := range th.consumers {
		th.consumers[i] = rig.Service{Handle: handle, Options: []idem.Option{idem.WithLogger(slog.New(slog.DiscardHandler))}, Edit: func(s *wire.Service) { s.Topics[0].Chain = s.Topics[0].Window }}.Consumer(t, th.db)
	}
	return th
}

func (th *theatre) stage(t *testing.T) *stage {
	p := th.stages
	th.stages++
	verb, bad := "add", "5000"
	if th.style.handlers {
		verb = "call"
	}
	var texts []string
	for o, key := range []int32{0, 1, 0} {
		value := "1"
		if th.style.poison == uint8(o) {
			value = bad
		}
		texts = append(texts, fmt.Sprintf("%s%d-%d: %s %d %s", th.style.key, p, key, verb, rowID(p, key), value))
	}
	s := &stage{
		t: t, db: th.db, course: begin(th.style), consumers: th.consumers,
		partition: p, log: rig.Records(0, texts...), refuse: &th.refuse,
	}
	for i := range s.log {
		s.log[i].Partition = p
	}
	return s
}

// rowID is the row of table t that shows the effect of a key.
func rowID(partition, key int32) int32 { return partition*2 + key }

// play plays a trace on model and worker.
func (s *stage) play(trace []call) {
	s.t.Helper()
	for n, c := range trace {
		from := s.course.worker(c.who).Next
		want, ok := s.course.play(c)
		if !ok {
			s.t.Fatalf("the model cannot play %v of %v", c, trace)
		}
		if got := s.perform(c, from); got != want {
			s.t.Errorf("%v: the worker says %v, the model %v", c, got, want)
		}
		s.compare()
		if s.t.Failed() {
			s.t.Fatalf("partition %d, after call %d of %v, which are the steps %s", s.partition, n, trace, describe(s.course.steps))
		}
	}
}

func describe(steps []chain.Step) string {
	var texts []string
	for i := range steps {
		texts = append(texts, steps[i].String())
	}
	return strings.Join(texts, "; ")
}

// perform does to the worker what the call says.
func (s *stage) perform(c call, from uint8) outcome {
	s.t.Helper()
	switch c.verb {
	case take:
		w, err := s.consumers[c.who].Own(s.t.Context(), rig.Topic, s.partition, 0)
		if halted, is := errors.AsType[*idem.HaltedError](err); is && halted.Code == halt.Paused {
			s.writers[c.who] = nil
			return stopped
		}
		if err != nil {
			s.t.Fatalf("%v: %v", c, err)
		}
		s.writers[c.who], s.killed[c.who] = w, false
	case drop:
		s.writers[c.who] = nil
	case apply_:
		return s.apply(c, from)
	case cut:
		s.cut(c.rows)
	case retain:
		s.exec(`DELETE FROM idem_ledger WHERE stream = %s AND seq < $2`, c.rows)
	case operate_, pause_:
		kind := uint8('o')
		if c.verb == pause_ {
			kind = 'p'
		}
		s.exec(`INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, writer, epoch, def, parts, window_seq, info)
SELECT stream, seq + 1, gen_random_uuid(), next, next, chr($2)::"char", 'o', epoch, def, parts, window_seq, 'operator test: model'
FROM idem_ledger WHERE stream = %s ORDER BY seq DESC LIMIT 1`, kind)
	}
	return done
}

// streamSQL names the stage's stream.
const streamSQL = `(SELECT stream FROM idem_stream WHERE partition = $1)`

func (s *stage) exec(sql string, arg uint8) {
	s.t.Helper()
	idemtest.Exec(s.t, s.db, fmt.Sprintf(sql, streamSQL), s.partition, int(arg))
}

// cut takes back all that was committed with the rows of the chain from rows on, as a
// failover to a standby that lags does.
func (s *stage) cut(rows uint8) {
	s.t.Helper()
	for _, table := range []string{"idem_ledger", "idem_keys", "idem_dead_letter"} {
		s.exec("DELETE FROM "+table+" WHERE stream = %s AND seq >= $2", rows)
	}
	if rows == 0 {
		s.exec("DELETE FROM idem_stream WHERE stream = %s AND $2 = 0", 0)
	}
	for key := range int32(2) {
		if !s.applied(key) {
			idemtest.Exec(s.t, s.db, `DELETE FROM t WHERE id = $1`, rowID(s.partition, key))
		}
	}
}

// applied reports whether a key took effect in the model.
func (s *stage) applied(key int32) bool {
	for _, r := range s.course.state.Rows[:s.course.state.N] {
		if key == 0 && r.Applied&0b101 != 0 || key == 1 && r.Applied&0b010 != 0 {
			return true
		}
	}
	return false
}

// apply applies messages, with the call's fault on the way.
func (s *stage) apply(c call, from uint8) outcome {
	s.t.Helper()
	counts := map[string]uint8{}
	hook := func(step string) error {
		counts[step]++
		switch {
		case c.fault == lost && step == fault.Reply && counts[step] == c.at,
			c.fault == killed && step == fault.BeforeSend && counts[step] == c.at && !s.course.handlers:
			return rig.ErrLost
		case c.fault == killed && step == fault.BeforeCommit:
			idemtest.Exec(s.t, s.db, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'idemgen' AND state LIKE 'idle in transaction%'`)
		}
		return nil
	}
	*s.refuse = -1
	if c.fault == refused {
		*s.refuse = int64(c.at)
	}
	s.killed[c.who] = c.fault == killed
	_, err := s.writers[c.who].Apply(fault.With(s.t.Context(), hook), s.log[from:c.end])
	if err == nil {
		return done
	}
	if _, fenced := errors.AsType[*idem.FencedError](err); fenced {
		return gone
	}
	if _, halted := errors.AsType[*idem.HaltedError](err); halted {
		s.t.Errorf("%v: %v", c, err)
	}
	return open
}

// compare compares all that the database and the workers hold with the model.
func (s *stage) compare() {
	s.t.Helper()
	state := &s.course.state
	var rows, keys, letters, effects []string
	prev := uint8(0)
	for n, r := range state.Rows[:state.N] {
		if state.Deleted&(1<<n) == 0 {
			rows = append(rows, fmt.Sprintf("%d%c%d-%d", n, "gfbop"[r.Kind], prev, r.Next))
		}
		for o := range uint8(chain.Messages) {
			if r.Dead&(1<<o) != 0 {
				letters = append(letters, fmt.Sprintf("%d:%d", n, o))
			}
			if r.Applied&(1<<o) != 0 && state.Deleted&(1<<n) == 0 {
				keys = append(keys, fmt.Sprint(n))
			}
		}
		prev = r.Next
	}
	for key := range int32(2) {
		if s.applied(key) {
			effects = append(effects, fmt.Sprintf("%d=1", rowID(s.partition, key)))
		}
	}
	s.same("chain", rows, `SELECT coalesce(string_agg(seq || kind::text || prev || '-' || next, ' ' ORDER BY seq), '') FROM idem_ledger WHERE stream = %s`)
	s.same("dead letters", letters, `SELECT coalesce(string_agg(seq || ':' || offs, ' ' ORDER BY seq, offs), '') FROM idem_dead_letter WHERE stream = %s`)
	s.same("keys, by row", keys, `SELECT coalesce(string_agg(seq::text, ' ' ORDER BY seq), '') FROM (
SELECT seq FROM idem_ledger, generate_series(1, length(keys) / 20) WHERE stream = %[1]s
UNION ALL SELECT k.seq FROM idem_keys k JOIN idem_ledger USING (stream, seq) WHERE stream = %[1]s) AS k`)
	got := rig.Query(s.t, s.db, `SELECT coalesce(string_agg(id || '=' || v, ' ' ORDER BY id), '') FROM t WHERE id / 2 = $1`, s.partition)
	rig.Want(s.t, "effects", got, strings.Join(effects, " "))
	for i, w := range s.writers {
		m := &state.Workers[i]
		if w == nil {
			continue
		}
		if !s.killed[i] || w.State() != protocol.Ready { // it may be sure that its COMMIT was never sent
			rig.Want(s.t, fmt.Sprintf("state of worker %d", i), w.State(), m.State)
		}
		if m.Loaded {
			rig.Want(s.t, fmt.Sprintf("position of worker %d", i), w.Next(), int64(m.Next))
		}
	}
}

func (s *stage) same(what string, model []string, sql string) {
	s.t.Helper()
	rig.Want(s.t, what, rig.Query(s.t, s.db, fmt.Sprintf(sql, streamSQL), s.partition), strings.Join(model, " "))
}
