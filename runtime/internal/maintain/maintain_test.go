package maintain_test

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/runtime/internal/maintain"
)

// Only the process that did the upkeep tells of it.
func TestARunIsToldUnlessAnotherProcessIsAtIt(t *testing.T) {
	t.Parallel()
	db := database(t)
	j, _ := job(db, "a")
	told := 0
	j.Ran = func(time.Duration, error) { told++ }
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `SELECT pg_advisory_xact_lock($1, hashtext('a'))`, 0x1de36e6); err != nil {
		t.Fatal(err)
	}
	upkeep(t, db, j)
	want(t, "runs told while another process is at it", strconv.Itoa(told), "0")
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	upkeep(t, db, j)
	want(t, "runs told", strconv.Itoa(told), "1")
}

// Without a database nobody knows that consumption continues.
func TestNothingIsSaidOfConsumptionWithoutADatabase(t *testing.T) {
	t.Parallel()
	log := &transcript.Buffer{}
	j := &maintain.Job{
		Consumer: "a", Now: time.Now, Log: slog.New(slog.NewTextHandler(log, nil)),
		Connect: func(ctx context.Context) (*pgx.Conn, error) { return pgx.Connect(ctx, "host="+t.TempDir()) },
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		j.Run(ctx, time.Hour)
	}()
	until(t, "nothing is said", func() bool { return log.String() != "" })
	cancel()
	<-done
	if got := log.String(); !strings.Contains(got, "because the database cannot be used") || strings.Contains(got, "consumption continues") {
		t.Errorf("the log: %s", got)
	}
}
