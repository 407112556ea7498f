package maintain_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/maintain"
)

// An error that lasts is logged once an hour, and a new one at once. An error that is due to the
// end of the process is not logged. The hook is called for each run, with its error.
func TestLastingErrorIsLoggedOnceAnHour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log transcript.Buffer
		began, told := time.Now(), 0
		ctx, cancel := context.WithCancel(t.Context())
		one, two := errors.New("one"), error(&pgconn.PgError{Code: "42501", Message: "two"})
		j := &maintain.Job{
			Log: slog.New(slog.NewTextHandler(&log, nil)), Now: time.Now,
			Connect: func(context.Context) (*pgx.Conn, error) {
				switch passed := time.Since(began); {
				case passed < 80*time.Minute:
					return nil, one
				case passed < 90*time.Minute:
					return nil, two
				}
				cancel()
				return nil, ctx.Err()
			},
		}
		j.Ran = func(_ time.Duration, err error) {
			if told++; err == nil {
				t.Error("a run without an error")
			}
			want(t, "lines", fmt.Sprint(told-1, strings.Count(log.String(), "\n")), []string{
				"0 0", "1 1", "2 1", "3 1", "4 1", "5 1", "6 1", "7 2", "8 2", "9 3", // as the run ends, before its own line
			}[told-1])
		}
		j.Run(ctx, 10*time.Minute)
		want(t, "runs", fmt.Sprint(told), "10")
		lines := strings.Split(log.String(), "\n")
		for i, grants := range []bool{false, false, true} {
			if strings.Contains(lines[i], "grant=") != grants {
				t.Errorf("line %d: %s", i, lines[i])
			}
		}
		want(t, "lines at last", fmt.Sprint(len(lines)), "4")
	})
}

// After a run without an error, the same error is logged again.
func TestErrorThatComesBackIsLoggedAgain(t *testing.T) {
	t.Parallel()
	db := database(t)
	j, log := job(db, "a")
	connect, runs := j.Connect, make(chan struct{}, 100)
	n := 0
	j.Connect = func(ctx context.Context) (*pgx.Conn, error) {
		runs <- struct{}{}
		if n++; n == 3 {
			return connect(ctx)
		}
		return nil, errors.New("away")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go j.Run(ctx, time.Millisecond)
	for range 7 {
		<-runs
	}
	want(t, "lines", fmt.Sprint(strings.Count(log.String(), "away")), "2")
}

// outcome makes a lease of an effect: consumer, state, and how many hours ago its time was over.
func outcome(t testing.TB, db *pgxpool.Pool, key, of string) {
	t.Helper()
	part := strings.Fields(of)
	idemtest.Exec(t, db, `INSERT INTO idem_lease
    (consumer, key, def, fp, state, owner, fence, attempts, term, interrupts, keep, expires_at, forget_at)
VALUES ($1, ($2 || repeat('0', 30))::uuid, 0, 0, $3::text::"char", gen_random_uuid(), 1, 1, '1 minute', false, '1 day', now(),
    now() - $4::text::interval)`, part[0], key, part[1], part[2]+" hour")
}

// Each part of the upkeep needs its tables. One that fails is named, and does not keep the others
// from their work.
func TestPartsOfTheUpkeep(t *testing.T) {
	t.Parallel()
	db := database(t)
	first(t, db, "a")
	key(t, db, "a")
	pass(t, db, "a", 31*time.Minute)
	chain(t, db, "a", 200, 100)
	outcome(t, db, "01", "a f 1")
	leases := func() string { return text(t, db, `SELECT count(*) FROM idem_lease`) }
	j, log := job(db, "a")
	all := j.Schema
	j.Schema = map[string]int{"core": 1}
	upkeep(t, db, j)
	want(t, "without keys and effects", generations(t, db, "a")+", "+leases(), "1 open, 1")
	j.Schema, j.Keep = all, 0
	upkeep(t, db, j)
	want(t, "without keys of all partitions", generations(t, db, "a")+", "+leases(), "1 open, 0")
	if strings.Contains(log.String(), "level=INFO") {
		t.Errorf("the log: %s", log)
	}
	j.Keep = time.Hour
	chain(t, db, "a", 200, 100)
	crashed := false
	err := j.Once(fault.With(t.Context(), func(step string) error {
		if step == fault.Trimmed && !crashed {
			crashed = true
			return errCrash
		}
		return nil
	}))
	if !errors.Is(err, errCrash) || !strings.HasPrefix(err.Error(), "remove rows of the ledger: ") {
		t.Errorf("a part failed: %v", err)
	}
	want(t, "beside the failure", generations(t, db, "a"), "1 sealed, 2 open")
	pass(t, db, "a", 2*time.Hour)
	upkeep(t, db, j)
	for _, line := range []string{
		`msg="generation of keys sealed" generation=1 open=2`, `msg="generations of keys dropped" generations=[1]`,
	} {
		want(t, line, fmt.Sprint(strings.Count(log.String(), line)), "1")
	}
}

// Outcomes of effects are forgotten when their time is over: not those of other consumers, of
// calls that are not done, nor results from which an event was not applied yet.
func TestOutcomesAreForgotten(t *testing.T) {
	t.Parallel()
	db := database(t)
	first(t, db, "a")
	stream, gone := chain(t, db, "a", 1, 0), chain(t, db, "gone", 1, 0)
	for key, of := range map[string]string{
		"01": "a c 1", "02": "a f 1", "03": "a d 1", "04": "a d 1", "05": "a p 1",
		"06": "a c -1", "07": "a f -1", "08": "a d -1", "09": "gone c 1", "10": "a d 1",
	} {
		outcome(t, db, key, of)
	}
	for key, by := range map[string]string{"04": stream, "08": stream, "10": gone} { // applied events
		idemtest.Exec(t, db, `INSERT INTO idem_keys (gen, key, def, fp, stream, seq)
VALUES (1, ($1 || repeat('0', 30))::uuid, 1, 1, $2::text::int, 1)`, key, by)
	}
	left := func() string {
		return text(t, db, `SELECT string_agg(substr(key::text, 1, 2), ' ' ORDER BY key) FROM idem_lease`)
	}
	j, _ := job(db, "a")
	keys := j.Schema["keys"]
	j.Schema["keys"] = 0
	upkeep(t, db, j)
	want(t, "left without a table of keys", left(), "03 04 05 06 07 08 09 10")
	j.Schema["keys"] = keys
	upkeep(t, db, j)
	want(t, "left", left(), "03 05 06 07 08 09 10")
}

// Letters behind which records wait for too long are an error in the log, whenever their number
// is another one.
func TestLettersThatAreOverdueAreTold(t *testing.T) {
	t.Parallel()
	db := database(t)
	j, log := job(db, "a")
	stream, other := chain(t, db, "a", 1, 0), chain(t, db, "a", 1, 0)
	for _, of := range []string{stream, other} {
		letter(t, db, of, 1, "d", "9 days")
		letter(t, db, of, 1, "w", "9 days")
	}
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET parks = true, order_key = '01000000-0000-0000-0000-000000000000'`)
	told := func(what, lines string) {
		t.Helper()
		upkeep(t, db, j)
		var all []string
		for line := range strings.Lines(log.String()) {
			_, n, _ := strings.Cut(strings.TrimSpace(line), "letters=")
			all = append(all, n)
		}
		want(t, what, strings.Join(all, " "), lines)
	}
	told("two partitions", "2")
	told("the same", "2")
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET state = 'r', expires_at = NULL WHERE stream = $1::text::int`, other)
	told("one of them", "2 1")
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET state = 'r', expires_at = NULL WHERE state = 'd'`)
	told("none", "2 1")
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET state = 'd', expires_at = clock_timestamp()
WHERE state = 'r' AND stream = $1::text::int`, stream)
	told("one again", "2 1 1")
}
