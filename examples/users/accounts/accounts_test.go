package accounts

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

const ada = "00000000-0000-4000-8000-000000000001"

// Each change is a row and one event; a change that fails leaves neither.
func TestChangesAndTheirEvents(t *testing.T) {
	db := idemtest.Migrated(t, "migrations")
	s, ctx := Service{DB: db}, t.Context()
	if err := s.Create(ctx, User{ID: ada, Email: "ada@example.com", FullName: "Ada"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(ctx, User{ID: "00000000-0000-4000-8000-000000000002", Email: "ada@example.com"}); err == nil {
		t.Error("two users have one address")
	}
	if err := s.Rename(ctx, ada, "Ada Lovelace"); err != nil {
		t.Error(err)
	}
	if err := s.Delete(ctx, ada); err != nil {
		t.Error(err)
	}
	if err := s.Rename(ctx, ada, "Nobody"); !errors.Is(err, ErrNoUser) {
		t.Error(err)
	}
	var events string
	err := db.QueryRow(ctx, `SELECT string_agg(concat_ws(' ', aggregatetype, right(aggregateid, 1), type, coalesce(convert_from(payload, 'UTF8'), 'tombstone')), '; ' ORDER BY seq)
		FROM idem_outbox`).Scan(&events)
	const want = `user 1 UserCreated {"email":"ada@example.com","full_name":"Ada"}; user 1 UserRenamed {"full_name":"Ada Lovelace"}; user 1 UserDeleted tombstone`
	if err != nil || events != want {
		t.Errorf("%v: events %s, want %s", err, events, want)
	}
}

// The migration is the one that the package has now.
func TestMigrationIsThatOfTheOutbox(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("migrations", "0002_outbox.sql"))
	if err != nil || string(text) != outbox.Migration(outbox.ByRelay) {
		t.Errorf("%v: write it anew: idemgen outbox migration > migrations/0002_outbox.sql", err)
	}
}
