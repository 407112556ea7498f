package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/scripts/internal/audit"
)

// found collects findings by their kinds.
func found(all *[]string) func(audit.Kind, string, ...any) {
	return func(kind audit.Kind, format string, args ...any) {
		*all = append(*all, fmt.Sprint(kind, ": ", fmt.Sprintf(format, args...)))
	}
}

// TestPlantedCallsAreFound: the audit of calls finds each fault that it is there for, and nothing
// where calls are as they must be.
func TestPlantedCallsAreFound(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	nothingLost := func(userEvent, call, bool) bool { return false }
	for name, test := range map[string]struct {
		plant func(calls map[int][]call, letters map[int]bool)
		want  string // "" is nothing
	}{
		"as it must be": {func(map[int][]call, map[int]bool) {}, ""},
		"a call after its process died, with if_interrupted: retry": {func(calls map[int][]call, _ map[int]bool) {
			calls[0] = []call{{0, 1, at(0), at(1), true}, {0, 2, at(2), at(3), false}}
		}, ""},
		"a dead letter after its process died": {func(calls map[int][]call, letters map[int]bool) {
			calls[1], letters[1] = []call{{1, 1, at(0), at(1), true}}, true
		}, ""},
		"a lost call": {func(calls map[int][]call, _ map[int]bool) { delete(calls, 2) }, "no call for user.pinged 2"},
		"a repeated call": {func(calls map[int][]call, _ map[int]bool) {
			calls[2] = append(calls[2], call{2, 9, at(5), at(6), false})
		}, "is repeated"},
		"a call that is repeated after its process died, although an operator must decide": {func(calls map[int][]call, _ map[int]bool) {
			calls[1] = []call{{1, 1, at(0), at(1), true}, {1, 2, at(2), at(3), false}}
		}, "is repeated"},
		"two calls at once": {func(calls map[int][]call, _ map[int]bool) {
			calls[0] = []call{{0, 1, at(0), at(3), true}, {0, 2, at(2), at(4), false}}
		}, "two calls at once"},
		"a token that is not higher": {func(calls map[int][]call, _ map[int]bool) {
			calls[0] = []call{{0, 2, at(0), at(1), true}, {0, 2, at(2), at(3), false}}
		}, "has token 2 after 2"},
		"a dead letter whose call ended":            {func(_ map[int][]call, letters map[int]bool) { letters[1] = true }, "its call was not cut off"},
		"a dead letter of an event that is retried": {func(_ map[int][]call, letters map[int]bool) { letters[0] = true }, "its call was not cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			u := &users{of: pings}
			u.next(4)
			calls, letters := map[int][]call{}, map[int]bool{}
			for i := range u.events {
				calls[i] = []call{{i, 1, at(0), at(1), false}}
			}
			test.plant(calls, letters)
			var all []string
			u.compareCalls(calls, letters, nothingLost, found(&all))
			if test.want == "" && all != nil || test.want != "" && (len(all) != 1 || !strings.Contains(all[0], test.want)) {
				t.Errorf("found %q, want %q", all, test.want)
			}
		})
	}
}

// The result of a call is not recorded while the database is away, and a moment after it.
func TestResultsAreRecordedAfterOutages(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	for _, test := range []struct {
		away []outage
		want int // after a call that ends at 10
	}{
		{nil, 13},
		{[]outage{{at(5), at(9)}}, 13},
		{[]outage{{at(5), at(11)}}, 14},
		{[]outage{{at(12), at(20)}}, 23},
		{[]outage{{at(12), at(20)}, {at(22), at(30)}}, 33},
		{[]outage{{at(13), at(20)}}, 13},
	} {
		o := &outages{all: test.away}
		if got := o.recorded(at(10)); !got.Equal(at(test.want)) {
			t.Errorf("%v: at %d, want %d", test.away, got.Unix(), test.want)
		}
	}
}

// TestPlantedRowsOfUsersAreFound: a row that is lost, doubled, or another user's.
func TestPlantedRowsOfUsersAreFound(t *testing.T) {
	db := idemtest.DB(t)
	idemtest.Exec(t, db, `CREATE TABLE users (user_id uuid PRIMARY KEY, here int NOT NULL DEFAULT 0, anywhere int NOT NULL DEFAULT 0)`)
	idemtest.Exec(t, db, visits.setUp())
	u := &users{of: visits}
	u.next(2 * manyUsers)
	for _, e := range u.events {
		column := map[string]string{"user.came": "here", "user.left": "anywhere"}[e.kind]
		idemtest.Exec(t, db, fmt.Sprintf(`UPDATE users SET %s = %[1]s + 1 WHERE user_id = '%v'`, column, e.user))
	}
	conn, err := db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	a, b := uuid(1, 0), uuid(1, 2)
	for _, test := range []struct{ what, sql, undo, want string }{
		{"nothing", `SELECT 1`, `SELECT 1`, ""},
		{"a lost event", `SET here = here - 1 WHERE user_id = '%[1]v'`, `SET here = here + 1 WHERE user_id = '%[1]v'`, "lost"},
		{"a doubled event", `SET anywhere = anywhere + 1 WHERE user_id = '%[1]v'`, `SET anywhere = anywhere - 1 WHERE user_id = '%[1]v'`, "doubled"},
		{"an event of another user", `SET here = here + CASE user_id WHEN '%[1]v' THEN 1 ELSE -1 END WHERE user_id IN ('%[1]v', '%[2]v')`,
			`SET here = here - CASE user_id WHEN '%[1]v' THEN 1 ELSE -1 END WHERE user_id IN ('%[1]v', '%[2]v')`, "doubled lost"},
	} {
		statement := func(sql string) {
			if strings.HasPrefix(sql, "SET") {
				idemtest.Exec(t, db, "UPDATE users "+strings.NewReplacer("%[1]v", a.String(), "%[2]v", b.String()).Replace(sql))
			}
		}
		statement(test.sql)
		kinds := map[audit.Kind]int{}
		if err := u.compareRows(t.Context(), conn.Conn(), func(k audit.Kind, _ string, _ ...any) { kinds[k]++ }); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, k := range []audit.Kind{audit.Doubled, audit.Lost} {
			if kinds[k] > 0 {
				got = append(got, map[audit.Kind]string{audit.Doubled: "doubled", audit.Lost: "lost"}[k])
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: found %v, want %q", test.what, got, test.want)
		}
		statement(test.undo)
	}
}
