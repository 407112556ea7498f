package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/audit"
)

const (
	usersTopic  = "users.v1"
	manyUsers   = 39
	usersRate   = 60
	callsAtOnce = 8 // limits.effect_concurrency
)

// usersService is a service that counts events of users. It may call a provider for each event.
type usersService struct {
	consumer, dir, table string
	counts               string // SQL: user, type of event, how many
	types                []string
	retries, letters     string // the types of events with an effect, by if_interrupted
}

var pings = &usersService{
	consumer: "welcomes", dir: "testdata/golden/accepted/effects_on_redis", table: "pushes",
	counts: "SELECT user_id, 'user.pinged', sent FROM pushes",
	types:  []string{"user.pinged", "user.charged"}, retries: "user.pinged", letters: "user.charged",
}

var visits = &usersService{
	consumer: "visits", dir: "testdata/golden/behaviour/visits", table: "users",
	counts: "SELECT user_id, 'user.came', here FROM users UNION ALL SELECT user_id, 'user.left', anywhere FROM users",
	types:  []string{"user.came", "user.left"},
}

// setUp is SQL that makes the users.
func (s *usersService) setUp() string {
	sql := "INSERT INTO " + s.table + " (user_id) VALUES "
	for i := range manyUsers {
		sql += fmt.Sprintf("('%v'),", uuid(1, i))
	}
	return strings.TrimSuffix(sql, ",")
}

// uuid is the n-th of a kind.
func uuid(kind byte, n int) wire.UUID {
	return wire.UUID{kind, 6: 0x40, 8: 0x80, 13: byte(n >> 16), 14: byte(n >> 8), 15: byte(n)}
}

// eventOf is the number of an event by its id.
func eventOf(id string) (int, error) {
	u, err := wire.ParseUUID(id)
	return int(u[13])<<16 | int(u[14])<<8 | int(u[15]), err
}

// users are the events of a fault's users.
type users struct {
	of       *usersService
	provider string // file in which effects write down their calls
	events   []userEvent
	forgets  int // calls that a lossy store of leases may repeat
}

type userEvent struct {
	kind    string
	user    wire.UUID
	message *wire.Message // the first record of it
}

func newUsers(of *usersService) (*users, error) {
	f, err := os.CreateTemp("", "idemgen-provider-")
	if err != nil {
		return nil, err
	}
	return &users{of: of, provider: f.Name()}, f.Close()
}

// next makes n events, each tenth one twice.
func (u *users) next(n int) (list []*wire.Message) {
	for range n {
		i := len(u.events)
		e := userEvent{kind: u.of.types[i%len(u.of.types)], user: uuid(1, i%manyUsers)}
		e.message = &wire.Message{
			Topic: usersTopic, Partition: int32(i % manyUsers % partitions), Key: []byte(e.user.String()), Value: []byte(`{}`), Time: time.Now(),
			Headers: []wire.Header{{Name: "event-type", Value: []byte(e.kind)}, {Name: "id", Value: []byte(uuid(2, i).String())}},
		}
		u.events = append(u.events, e)
		list = append(list, e.message)
		if i%10 == 0 {
			list = append(list, again(e.message, e.message.Partition))
		}
	}
	return list
}

// again is a copy of a record, sent now.
func again(m *wire.Message, partition int32) *wire.Message {
	c := *m
	c.Partition, c.Time = partition, time.Now()
	return &c
}

// call is a call of the provider.
type call struct {
	event      int
	token      int64
	begun, end time.Time // when its process died, if it did not end
	cut        bool      // its process died before it can have recorded the result for sure
}

// calls reads the calls of each event.
func (u *users) calls(t *theatre) (map[int][]call, error) {
	text, err := os.ReadFile(u.provider)
	if err != nil {
		return nil, err
	}
	all := map[int][]call{}
	for line := range strings.Lines(string(text)) {
		var what, id string
		var token, at int64
		var pid int
		if _, err := fmt.Sscan(line, &what, &id, &token, &pid, &at); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", u.provider, line, err)
		}
		n, err := eventOf(id)
		if err != nil {
			return nil, err
		}
		if what == "begin" {
			all[n] = append(all[n], call{n, token, time.Unix(0, at), t.endOf(pid, time.Unix(0, at)), true})
			continue
		}
		i := slices.IndexFunc(all[n], func(c call) bool { return c.token == token })
		end := time.Unix(0, at)
		death := t.endOf(pid, end)
		all[n][i].end, all[n][i].cut = end, !death.IsZero() && death.Before(t.recorded(end))
	}
	return all, nil
}

// audit compares rows, dead letters and calls with the events.
func (u *users) audit(ctx context.Context, t *theatre, db *pgx.Conn) (all []audit.Finding, err error) {
	tell := func(kind audit.Kind, format string, args ...any) {
		all = append(all, audit.Finding{Kind: kind, What: fmt.Sprintf(format, args...)})
	}
	if err := u.compareRows(ctx, db, tell); err != nil || u.of.retries == "" {
		return all, err
	}
	calls, err := u.calls(t)
	if err != nil {
		return nil, err
	}
	letters, err := t.deadLetters(ctx, db)
	if err != nil {
		return nil, err
	}
	u.compareCalls(calls, letters, t.lost, tell)
	return all, nil
}

// compareCalls compares calls and dead letters with the events. lost reports whether the result of
// a call was lost by a restore.
func (u *users) compareCalls(calls map[int][]call, letters map[int]bool, lost func(e userEvent, c call, unnoticed bool) bool, tell func(audit.Kind, string, ...any)) {
	forgotten := 0
	for i, e := range u.events {
		made := calls[i]
		switch {
		case len(made) > 0:
		case letters[i] && e.kind == u.of.letters: // its process died under the lease
			continue
		default:
			tell(audit.Lost, "no call for %s %d", e.kind, i)
			continue
		}
		for n, c := range made[1:] {
			before := made[n]
			if c.token <= before.token {
				tell(audit.Broken, "a call for %s %d has token %d after %d", e.kind, i, c.token, before.token)
			}
			if c.begun.Before(before.end) {
				tell(audit.Doubled, "two calls at once for %s %d", e.kind, i)
			}
			if before.cut && e.kind == u.of.retries || lost(e, before, true) {
				continue
			}
			if forgotten++; forgotten > u.forgets {
				tell(audit.Doubled, "a call for %s %d, at offset %d of partition %d, is repeated", e.kind, i, e.message.Offset, e.message.Partition)
			}
		}
	}
	for i := range letters {
		e := u.events[i]
		if last := calls[i]; e.kind != u.of.letters || len(last) > 0 && !last[len(last)-1].cut && !lost(e, last[len(last)-1], false) {
			tell(audit.Lost, "%s %d is a dead letter, and its call was not cut off", e.kind, i)
		}
	}
}

// compareRows compares the counts of the users with the events.
func (u *users) compareRows(ctx context.Context, db *pgx.Conn, tell func(audit.Kind, string, ...any)) error {
	type count struct {
		user wire.UUID
		kind string
	}
	want := map[count]int{}
	for _, e := range u.events {
		want[count{e.user, e.kind}]++
	}
	rows, err := db.Query(ctx, u.of.counts)
	if err != nil {
		return err
	}
	var c count
	var n int
	_, err = pgx.ForEachRow(rows, []any{&c.user, &c.kind, &n}, func() error {
		switch w := want[c]; {
		case n < w:
			tell(audit.Lost, "user %v has %d of %d events %s", c.user, n, w, c.kind)
		case n > w:
			tell(audit.Doubled, "user %v has %d events %s, not %d", c.user, n, c.kind, w)
		}
		return nil
	})
	return err
}

// deadLetters are the events that became dead letters.
func (t *theatre) deadLetters(ctx context.Context, db *pgx.Conn) (map[int]bool, error) {
	type place struct {
		partition int32
		offset    int64
	}
	rows, err := db.Query(ctx, `SELECT s.partition, d.offs FROM idem_dead_letter d JOIN idem_stream s USING (stream)`)
	if err != nil {
		return nil, err
	}
	dead := map[place]bool{}
	var p place
	if _, err := pgx.ForEachRow(rows, []any{&p.partition, &p.offset}, func() error { dead[p] = true; return nil }); err != nil {
		return nil, err
	}
	letters := map[int]bool{}
	for _, m := range t.messages() {
		if dead[place{m.Partition, m.Offset}] {
			n, err := eventOf(string(m.Headers[1].Value))
			if err != nil {
				return nil, err
			}
			letters[n] = true
		}
	}
	return letters, nil
}

// lost reports whether the result of a call was lost by a restore. With unnoticed, an event that
// must become a dead letter counts only if the group had not committed its record.
func (t *theatre) lost(e userEvent, c call, unnoticed bool) bool {
	return slices.ContainsFunc(t.restored, func(r restore) bool {
		// What is recorded at the moment of the copy may or may not be in it.
		within := t.recorded(c.end).After(r.copied) && c.begun.Before(r.back)
		return within && (!unnoticed || e.kind == t.users.of.retries || e.message.Offset >= r.committed[e.message.Partition])
	})
}

// callsBy counts the events with more than one call, by type, and the dead letters.
func (u *users) callsBy(ctx context.Context, t *theatre) (string, error) {
	calls, err := u.calls(t)
	if err != nil {
		return "", err
	}
	conn, err := pgx.Connect(ctx, t.database())
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	letters, err := t.deadLetters(ctx, conn)
	repeated := map[string]int{}
	for i, made := range calls {
		if len(made) > 1 {
			repeated[u.events[i].kind]++
		}
	}
	return fmt.Sprintf("%d events, %d called again (retry), %d (dead_letter), %d dead letters", len(u.events), repeated[u.of.retries], repeated[u.of.letters], len(letters)), err
}
