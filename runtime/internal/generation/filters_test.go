package generation_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/bloom"
	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// looks checks where keys must be looked up, and which of them.
func (s *shelf) looks(l generation.List, open bool, keys []wire.Key, numbers []int32, suspects ...wire.Key) {
	s.t.Helper()
	gotNumbers, gotSuspects := s.Where(l, keys, open)
	slices.SortFunc(gotSuspects, func(x, y wire.Key) int { return int(x[0]) - int(y[0]) })
	if !slices.Equal(gotNumbers, numbers) || !slices.Equal(gotSuspects, suspects) {
		s.t.Errorf("keys %v are looked up in %v: %v, want %v in %v", keys, gotNumbers, gotSuspects, suspects, numbers)
	}
}

// told checks the filters' log, without times.
func (s *shelf) told(want ...string) {
	s.t.Helper()
	var got []string
	for line := range strings.Lines(s.log.String()) {
		_, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		got = append(got, text)
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("told:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func built(number, keys int, bytes, all int64) string {
	return fmt.Sprintf(`level=INFO msg="filter of sealed keys built" generation=%d keys=%d bytes=%d all_bytes=%d`, number, keys, bytes, all)
}

// Keys are looked up where a filter does not exclude them, and where there is no filter. Filters
// follow the list: a generation's is built once it is sealed, and dropped with it.
func TestFiltersFollowTheList(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 1<<20)
	k := numbered(1, 2, 3, 4, 5, 6)
	one, size := bloom.Bytes(1), bloom.Bytes(5)
	idle := s.listed()
	s.looks(idle, false, k, nil)
	s.looks(idle, true, k, []int32{1}, k...)
	s.seal(k[:5]...)
	first := s.list()
	s.looks(first, false, k, []int32{1}, k...)
	s.listed()
	s.told(built(1, 5, size, size))
	s.looks(first, false, k, []int32{1}, k[:5]...)
	s.looks(first, false, k[5:], nil)
	s.looks(first, true, k[5:], []int32{2}, k[5])
	s.looks(first, true, k[4:], []int32{1, 2}, k[4:]...)
	s.seal(k[5])
	second := s.listed()
	s.told(built(1, 5, size, size), built(2, 1, one, size+one))
	s.looks(second, false, k[4:], []int32{1, 2}, k[4:]...)
	s.looks(second, false, k[5:], []int32{2}, k[5])
	s.looks(idle, false, k, nil) // the seal is not in this list
	s.drop(1)
	third := s.listed()
	s.told(built(1, 5, size, size), built(2, 1, one, size+one))
	s.looks(third, false, k, []int32{2}, k[5])
	s.looks(first, false, k[5:], []int32{1}, k[5]) // its filter is gone
	s.seal(k[0])
	s.listed()
	s.told(built(1, 5, size, size), built(2, 1, one, size+one), built(3, 1, one, 2*one))
}

// After lost commits every filter is built again, also one that is just being built.
func TestForgottenFiltersAreBuiltAgain(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 1<<20)
	k := numbered(1, 2)
	size := bloom.Bytes(1)
	s.seal(k[0])
	connected := 0
	s.connect = func(*pgx.Conn) {
		if connected++; connected == 1 {
			s.Forget()
		}
	}
	l := s.listed()
	rig.Want(t, "filters read", connected, 2)
	s.told(built(1, 1, size, size))
	s.Forget()
	s.settle()
	rig.Want(t, "filters read", connected, 3)
	s.told(built(1, 1, size, size), built(1, 1, size, size))
	s.looks(l, false, k, []int32{1}, k[0])
}

// A filter is not used if its generation left the list while it was built, or its seal is gone.
func TestFilterOfADroppedGenerationIsNotUsed(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 1<<20)
	k := numbered(1, 2)
	s.seal(k[0])
	s.connect = func(*pgx.Conn) { s.Listed(nil) }
	l := s.listed()
	s.told()
	s.looks(l, false, k[1:], []int32{1}, k[1])
	s.connect = func(*pgx.Conn) {}
	other := generation.List{{Number: 1, Seal: wire.UUID{7}}}
	s.Listed(other) // the list is read again, and has the real seal
	s.settle()
	s.told(built(1, 1, bloom.Bytes(1), bloom.Bytes(1)))
	s.looks(other, false, k[1:], []int32{1}, k[1])
	s.looks(l, false, k[1:], nil)
}

// A filter above the limit is not built. That is said once, as long as its generation is listed.
func TestFiltersKeepTheirLimit(t *testing.T) {
	t.Parallel()
	size := bloom.Bytes(1)
	s := newShelf(t, 2*size)
	k := numbered(1, 2, 3, 4)
	refused := func(number int) string {
		return fmt.Sprintf(`level=WARN msg="no memory for a filter of sealed keys: keys are looked up in the database instead, which is slower" `+
			`generation=%d keys=1 bytes=%d in_use=%d limit=%d`, number, size, 2*size, 2*size)
	}
	s.seal(k[0])
	s.listed()
	s.seal(k[1])
	s.listed()
	s.seal(k[2])
	s.listed()
	l := s.listed()
	s.told(built(1, 1, size, size), built(2, 1, size, 2*size), refused(3))
	s.looks(l, false, k[3:], []int32{3}, k[3])
	s.Listed(l[:2])
	s.settle()
	s.listed() // the third is new again
	s.told(built(1, 1, size, size), built(2, 1, size, 2*size), refused(3), refused(3))
}

// A generation that has lost keys is told of by Lost, until they are back or the list has lost it.
func TestFiltersSayThatKeysAreLost(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 1<<20)
	k := numbered(1, 2, 3)
	s.seal(k[:2]...)
	idemtest.Exec(t, s.db, fmt.Sprintf(`DELETE FROM idem_keys WHERE key = '%x'`, k[0][:]))
	lost := generation.LostError{Number: 1, Have: 1, Want: 2}
	isLost := func(what string, err error) {
		t.Helper()
		if got, ok := errors.AsType[*generation.LostError](err); !ok || *got != lost {
			t.Errorf("%s: %v, want %v", what, err, &lost)
		}
	}
	isWhole := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	alarm := fmt.Sprintf(`level=ERROR msg="no key is claimed until an operator has acted" err=%q`, lost.Error())
	isWhole("before the first list", s.Recount(t.Context()))
	l := s.listed()
	s.told(alarm)
	s.listed()
	s.told(alarm)
	isLost("listed", s.Lost(l))
	isLost("counted again", s.Recount(t.Context()))
	isWhole("of another list", s.Lost(l[1:]))
	s.looks(l, false, k[2:], []int32{1}, k[2])
	s.Listed(l[1:])
	isWhole("not listed", s.Lost(l))
	s.listed()
	s.told(alarm, alarm)
	idemtest.Exec(t, s.db, `ALTER TABLE idem_keys_1 DISABLE TRIGGER ALL`)
	idemtest.Exec(t, s.db, fmt.Sprintf(`INSERT INTO idem_keys VALUES (1, '%x', 1, 2, 3, 4)`, k[0][:]))
	isLost("until it is counted again", s.Lost(l))
	isWhole("restored", s.Recount(t.Context()))
	isWhole("restored", s.Lost(l))
	size := bloom.Bytes(2)
	s.told(alarm, alarm, built(1, 2, size, size))
	s.looks(l, false, k, []int32{1}, k[:2]...)
	idemtest.Exec(t, s.db, `DELETE FROM idem_keys`)
	empty := generation.Empty(t.Context(), s.conn, "a")
	lost.Have = 0
	isLost("without keys", empty)
	isWhole("of another consumer", generation.Empty(t.Context(), s.conn, "b"))
	idemtest.Exec(t, s.db, `ALTER TABLE idem_key_gen RENAME TO gone`)
	if err := generation.Empty(t.Context(), s.conn, "a"); err == nil {
		t.Error("without the table: no error")
	}
}

// A filter has all keys of its generation, or it is none.
func TestFilterIsFilledWithAllKeys(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 1<<20)
	k := numbered(1, 2, 3)
	s.seal(k[:2]...)
	filter := bloom.New(2)
	rig.Do(t, func() error { return generation.Fill(t.Context(), s.conn, filter, 1, 2) })
	rig.Want(t, "has", fmt.Sprint(filter.Has(k[0]), filter.Has(k[1]), filter.Has(k[2])), "true true false")
	for _, count := range []int64{1, 3} {
		err := generation.Fill(t.Context(), s.conn, bloom.New(2), 1, count)
		rig.Want(t, "error", fmt.Sprint(err), fmt.Sprintf("generation 1 had %d keys, now 2: it is being dropped", count))
	}
	idemtest.Exec(t, s.db, `ALTER TABLE idem_keys RENAME TO gone`)
	if err := generation.Fill(t.Context(), s.conn, bloom.New(1), 1, 0); err == nil {
		t.Error("without the table: no error")
	}
}

// A generation that cannot be read is told of, with the reason, and gets no filter.
func TestFilterThatCannotBeBuiltIsTold(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ view, says string }{
		"the list fails": {`idem_key_gen AS SELECT * FROM public.idem_key_gen WHERE 1 / (gen - gen) = 1`, "division by zero"},
		"the keys fail":  {`idem_keys AS SELECT * FROM public.idem_keys WHERE 1 / (gen - gen) = 1`, "division by zero"},
		"a key appears":  {`idem_keys AS SELECT * FROM public.idem_keys WHERE nextval('public.n') <> 1`, "generation 1 had 1 keys, now 2: it is being dropped"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t, 1<<20)
			k := numbered(1, 2, 3)
			s.seal(k[:2]...)
			idemtest.Exec(t, s.db, `UPDATE idem_key_gen SET keys = NULL; CREATE SEQUENCE n; CREATE SCHEMA odd; CREATE VIEW odd.`+test.view)
			s.connect = func(conn *pgx.Conn) {
				_, err := conn.Exec(context.Background(), `SET search_path TO odd, public`)
				rig.Want(t, "error", err, nil)
			}
			l := s.list()
			s.Listed(l)
			rig.Within(t, "it is told", func() bool { return strings.Contains(s.log.String(), test.says) })
			s.Close()
			rig.Want(t, "lines", strings.Count(s.log.String(), "\n"), 1)
			s.looks(l, false, k[2:], []int32{1}, k[2])
		})
	}
}

// While filters cannot be built, newer generations come first, an attempt follows every ten
// seconds, and the log says why. Close ends that at once, and a later list begins anew.
func TestFiltersAreTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("down")
		var log transcript.Buffer
		began, times := time.Now(), []time.Duration(nil)
		f := generation.NewFilters("a", 1<<20, func(context.Context) (*pgx.Conn, error) {
			times = append(times, time.Since(began))
			return nil, down
		}, slog.New(slog.NewTextHandler(&log, nil)))
		l := generation.List{{Number: 3, Seal: wire.UUID{3}}, {Number: 4, Seal: wire.UUID{4}}, {Number: 1, Seal: wire.UUID{1}}, {Number: 5, Open: true}}
		f.Listed(l)
		time.Sleep(5 * time.Second)
		f.Listed(l) // while it is running
		f.Forget()
		time.Sleep(16 * time.Second)
		f.Close()
		rig.Want(t, "attempts", fmt.Sprint(times), "[0s 10s 20s]")
		rig.Want(t, "closed after", time.Since(began), 21*time.Second)
		rig.Want(t, "lines", strings.Count(log.String(), "\n"), 3)
		rig.Want(t, "lines with generation and reason", strings.Count(log.String(), "generation=4 err=down\n"), 3)
		f.Open()
		f.Listed(l[3:])
		f.Settle()
		rig.Want(t, "attempts", len(times), 3)
		f.Listed(l)
		synctest.Wait()
		rig.Want(t, "attempts", len(times), 4)
		f.Close()
		f.Close()
	})
}

// Close ends the reading of a generation, and nothing is said of that.
func TestCloseEndsTheReading(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log transcript.Buffer
		var begun atomic.Int32
		f := generation.NewFilters("a", 1<<20, func(ctx context.Context) (*pgx.Conn, error) {
			begun.Add(1)
			<-ctx.Done()
			return nil, ctx.Err()
		}, slog.New(slog.NewTextHandler(&log, nil)))
		f.Close() // before anything was listed
		list := generation.List{{Number: 1, Seal: wire.UUID{1}}}
		f.Listed(list)
		synctest.Wait()
		rig.Want(t, "readings while it is closed", begun.Load(), 0)
		f.Open()
		f.Listed(list)
		synctest.Wait()
		rig.Want(t, "readings once it is open", begun.Load(), 1)
		f.Close()
		rig.Want(t, "log", log.String(), "")
	})
}
