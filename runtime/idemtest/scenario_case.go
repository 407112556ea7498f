package idemtest

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/fault"
)

// everySize is up to which size batches of each size are tried; after it, twice the size each
// time.
const everySize = 16

// ofACase are the scenarios of a case. The first one finds the steps at which the others crash.
func ofACase(log []record, steps map[string]bool) []scenario {
	all := []scenario{{"once", func(b *trial) { once(b, steps) },
		"Even without repeats or crashes, the records do not do what the case says."}}
	if slices.ContainsFunc(log, func(r record) bool { return r.handled != "" }) {
		all = append(all, untilCommit)
	}
	records := len(log)
	for size := 2; size <= records; size = nextSize(size, records) {
		all = append(all, scenario{fmt.Sprintf("batches of %d", size), func(b *trial) { b.inBatches(b.log, func() int { return size }) },
			"Records of one batch: a handler may rely on something outside its transaction, or on being called for one record at a time."})
	}
	all = append(all,
		scenario{"every event repeated in its batch", repeatedInBatch,
			"The second copy of a key must have no effect."},
		scenario{"every event repeated later", repeatedLater,
			"The second copy of a key must have no effect."},
		scenario{"redelivered", redelivered,
			"Records below the ledger's position must be skipped."},
	)
	for _, step := range slices.Concat(effectSteps, Steps) {
		if !steps[step] {
			continue
		}
		all = append(all, scenario{fmt.Sprintf("batches of %d, crash at step %s", crashBatch, step), func(b *trial) {
			b.stopEverywhere(func(s string) bool { return s == step }, takeOverAgain)
		}, "Effect and position must commit together; a handler must write only through tx."})
	}
	return all
}

func nextSize(size, records int) int {
	next := size + 1
	if size >= everySize {
		next = 2 * size
	}
	if size < records {
		next = min(next, records)
	}
	return next
}

// once applies the records one by one, and keeps the steps that it passes.
func once(b *trial, steps map[string]bool) {
	owners := b.owners()
	var mu sync.Mutex // effects run beside
	ctx := fault.With(b.t.Context(), func(step string) error {
		mu.Lock()
		defer mu.Unlock()
		steps[step] = true
		return nil
	})
	for _, m := range b.messages(b.log) {
		if _, err := b.try(ctx, owners.writer(partitionOf(m)), []idem.Message{m}); err != nil {
			b.t.Fatalf("applying the record of offset %d of %s: %v%s", m.Offset, m.Topic, inTest(err), b.likelyCause(err))
		}
	}
}

// classDiff compares how many dead letters of each class there are. If they are what they must be,
// they are those that every other scenario must find.
func classDiff(b *trial) string {
	b.want.dead = map[int]expectedDead{}
	letters := b.deadLetters()
	for at, l := range letters {
		b.want.dead[b.delivered[at]] = expectedDead{class: l.class}
	}
	return b.want.classDiff(letters, func(at recordOffset) int { return b.delivered[at] })
}

// classDiff says which classes have more or fewer dead letters than they must have, and why each
// record is one. event is the index of its event in the case.
func (s *state) classDiff(letters map[recordOffset]deadLetter, event func(recordOffset) int) string {
	found, reasons := map[string]int{}, map[int]string{}
	for at, l := range letters {
		found[l.class]++
		reasons[event(at)] = l.reason
	}
	var out []string
	for _, class := range slices.Sorted(maps.Keys(s.classes)) {
		if want := s.classes[class]; found[class] != want {
			out = append(out, fmt.Sprintf("%s: want %d, got %d", class, want, found[class]))
		}
	}
	for _, class := range slices.Sorted(maps.Keys(found)) {
		if s.classes[class] == 0 {
			out = append(out, fmt.Sprintf("%s: want 0, got %d", class, found[class]))
		}
	}
	if len(out) == 0 {
		return ""
	}
	for _, index := range slices.Sorted(maps.Keys(reasons)) {
		out = append(out, fmt.Sprintf("event %d is a dead letter: %s", index+1, reasons[index]))
	}
	return shortened(out)
}
