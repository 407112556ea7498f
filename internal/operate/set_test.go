package operate_test

import (
	"fmt"
	"testing"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/halt"
)

// A position that is set is where the operator said, and the answer says what becomes of the
// offsets between.
func TestSetSaysWhatBecomesOfOffsets(t *testing.T) {
	db := database(t)
	w := begin(t, db, orders, oldID)
	w.batch(5)
	const again = ": events without a known key take effect again"
	for _, c := range []struct {
		to   operate.Target
		want string // the kind, the positions and the effect
	}{
		{operate.Target{From: 15, To: 16}, "skip 15 16 1 offset, 15, passes without effect"},
		{operate.Target{From: halt.Anywhere, To: 18}, "skip 15 18 3 offsets, 15 to 17, pass without effect"},
		{operate.Target{From: 15, To: 14, ApplyAgain: true}, "rewind 15 14 1 offset, 14, is read again" + again},
		{operate.Target{From: halt.Anywhere, To: 0, ApplyAgain: true}, "rewind 15 0 15 offsets, 0 to 14, are read again" + again},
		{operate.Target{From: 15, To: 15}, "operator 15 15 the position stays, even if the log before it has changed"},
		{operate.Target{From: 15, To: 15, ApplyAgain: true}, "operator 15 15 the position stays, even if the log before it has changed"},
		{operate.Target{From: halt.Anywhere, To: 15, Found: "the end"}, " 15 15 stays at offset 15, nothing appended (offset 15: the end)"},
		{operate.Target{From: halt.Anywhere, To: 17, Found: "09:00", ApplyAgain: true}, " 15 15 stays at offset 15, nothing appended (offset 17: 09:00)"},
		{operate.Target{From: halt.Anywhere, To: 17, Found: "09:00"}, "skip 15 17 2 offsets, 15 to 16, pass without effect (offset 17: 09:00)"},
		{operate.Target{From: halt.Anywhere, To: 12, Found: "09:00", ApplyAgain: true}, "rewind 15 12 3 offsets, 12 to 14, are read again" + again + " (offset 12: 09:00)"},
		{operate.Target{From: 15, To: 12}, "error: orders.v1/0 of projector is at offset 15 (row 1, batch), and 12 is before it: records that were applied take effect again, " +
			"unless they have a key that is still known; confirm with --apply-again"},
		{operate.Target{From: halt.Anywhere, To: 15}, "error: orders.v1/0 of projector is at offset 15 already (row 1, batch)"},
		{operate.Target{From: halt.Anywhere, To: 17, ApplyAgain: true}, "error: orders.v1/0 of projector is at offset 15 (row 1, batch): --apply-again only moves back, and 17 is not before it"},
		{operate.Target{From: 10, To: 17}, "error: orders.v1/0 of projector is at offset 15 (row 1, batch), not 10: it has changed since; check with list, then give the current offset as --from"},
		{operate.Target{From: 15, To: -1}, "error: there is no offset -1"},
	} {
		by := ann
		by.DryRun = true
		done, err := operate.Set(t.Context(), db, orders, c.to, by)
		got := fmt.Sprintf("%s %d %d %s", done.Kind, done.From, done.To, done.Effect)
		if err != nil {
			got = "error: " + err.Error()
		}
		want(t, fmt.Sprintf("%+v", c.to), got, c.want)
		want(t, "appended", done.Appended, false)
	}
}
