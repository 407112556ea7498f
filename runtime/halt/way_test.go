package halt_test

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/halt"
)

// TestWays: each way out is one command, and says what it costs.
func TestWays(t *testing.T) {
	of := halt.Way{Code: halt.LogTruncated, Consumer: "c", Topic: "t", Partition: 3}
	with := func(change func(*halt.Way)) halt.Way { w := of; change(&w); return w }
	move := func(m halt.Move) halt.Way { return with(func(w *halt.Way) { w.Move = &m }) }
	for _, c := range []struct {
		way           halt.Way
		command, cost string
	}{
		{of, "release --consumer c --topic t --partition 3 --reason log-truncated", "halts again if the cause persists"},
		{with(func(w *halt.Way) { w.Code = halt.Paused }), "resume --consumer c --topic t --partition 3 --reason paused", "continues where it was paused"},
		{with(func(w *halt.Way) { w.Code = halt.DeadLetters }), "release --consumer c --topic t --partition 3 --reason too-many-dead-letters", "the count restarts"},
		{with(func(w *halt.Way) { w.All, w.Partitions = true, 6 }), "release --consumer c --topic t --all --partitions 6 --reason log-truncated", "the order of a key's records"},
		{with(func(w *halt.Way) { w.Partitions, w.Fewer = 2, true }), "release --consumer c --topic t --partition 3 --partitions 2 --fewer --reason log-truncated", "the order of a key's records"},
		{with(func(w *halt.Way) { w.Older = true }), "release --consumer c --topic t --partition 3 --older-version-may-run --reason log-truncated", "for one window, duplicates"},
		{move(halt.Move{From: 9, To: 4, ApplyAgain: true}), "set --consumer c --topic t --partition 3 --from 9 --to 4 --apply-again --reason log-truncated", "records from offset 4 on are read again"},
		{move(halt.Move{From: 0, To: 0}), "set --consumer c --topic t --partition 3 --from 0 --to 0 --reason log-truncated", "if the log before the position is still the same"},
		{move(halt.Move{From: 4, To: 9}), "set --consumer c --topic t --partition 3 --from 4 --to 9 --reason log-truncated", "records before offset 9"},
		{of.Pass(7), "set --consumer c --topic t --partition 3 --to 8 --reason log-truncated", "records before offset 8"},
		{move(halt.Move{From: halt.NoLedger, To: 5}), "set --consumer c --topic t --partition 3 --from none --to 5 --reason log-truncated", halt.Skips},
		{move(halt.Move{From: halt.NoLedger, To: 5, First: true}), "set --consumer c --topic t --partition 3 --from none --to 5 --reason log-truncated", halt.Rereads},
		{move(halt.Move{From: halt.NoLedger}), "set --consumer c --topic t --partition 3 --from none --to 0 --reason log-truncated", halt.Rereads},
		{with(func(w *halt.Way) { w.TopicID, w.Move = "id", &halt.Move{From: 1, To: 2} }), "set --consumer c --topic t --partition 3 --from 1 --topic-id id --to 2 --reason log-truncated", "records before offset 2"},
	} {
		if got, want := c.way.String(), "idemgen stream "+c.command; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if !strings.Contains(c.way.Costs(), c.cost) {
			t.Errorf("%s costs %q, want %q", c.command, c.way.Costs(), c.cost)
		}
	}
}
