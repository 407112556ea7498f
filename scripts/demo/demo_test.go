package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// says reports whether something happened.
func (s state) says(text string) bool {
	return slices.ContainsFunc(s.events, func(e event) bool { return strings.Contains(e.text, text) })
}

// Every key does what it says, and no harm. Then somebody does harm, and the screen says so.
func TestKeysDoNoHarm(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	t.Chdir("../..")
	ctx := t.Context()
	dir := t.TempDir()
	if err := stage.Build(ctx, dir, service); err != nil {
		t.Fatal(err)
	}
	s, err := openShow(ctx, programs{dir, filepath.Join(dir, filepath.Base(service))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	keys, ended := make(chan rune), make(chan error)
	go func() { ended <- s.run(ctx, keys, func(state) {}) }()
	until := func(what string, done func(state) bool) {
		t.Helper()
		err := stage.Until(ctx, 30*time.Second, func() (bool, error) { return done(s.board.read()), nil })
		if err != nil {
			t.Errorf("%s: %v; the screen:", what, err)
		}
		if err != nil || testing.Verbose() {
			for _, l := range view(s.board.read(), 100, 40) {
				fmt.Println(l)
			}
		}
	}
	works := func(s state) bool {
		return len(s.partitions) == partitions && s.lag() < perSecond && !slices.ContainsFunc(s.consumers, func(m member) bool { return m.is != running }) &&
			!slices.ContainsFunc(s.partitions, func(p partition) bool { return p.owner.pid == 0 })
	}
	until("the beginning", works)
	waited, moved := false, false // a reason was shown, and a partition without its owner
	for _, k := range []struct {
		key  rune
		does func(state) bool
	}{
		{'k', func(s state) bool {
			moved = moved || slices.ContainsFunc(s.partitions, func(p partition) bool { is, _ := s.owner(p); return is == nil })
			return moved && s.says("kill -9") && s.says("started again")
		}},
		{'d', func(s state) bool { return s.again > copies && s.recognized > copies }},
		{'f', func(s state) bool { return s.says("SIGSTOP") && s.says("SIGCONT") && s.says("refuses it") }},
		{'c', func(s state) bool { return s.says("is cut") && s.says("finds in the ledger") }},
		{'p', func(s state) bool { return s.letters == 1 && s.says("dead letter in") }},
		{'s', func(s state) bool {
			waited = waited || len(waiting(s)) > 0
			return waited && s.says("Postgres is killed") && s.says("Postgres is back")
		}},
	} {
		keys <- k.key
		until(string(k.key), k.does)
		until(string(k.key)+", and then", works)
	}
	err = s.ask(ctx, func(db *pgxpool.Pool) error {
		_, err := db.Exec(ctx, `UPDATE orders SET paid = paid + 1 WHERE ctid = (SELECT min(ctid) FROM orders)`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	until("a payment that counts twice", func(s state) bool { return s.doubled == 1 && s.lost == 0 })
	keys <- quit
	if err := <-ended; err != nil {
		t.Error(err)
	}
	end := s.board.read()
	if end.lag() != 0 || end.letters != 1 || end.lost != 0 || end.recognized != end.again-1 {
		t.Errorf("the end: %+v", end)
	}
	if err := s.judge(context.WithoutCancel(ctx)); err == nil {
		t.Error("the audit did not find the payment that counts twice")
	}
}
