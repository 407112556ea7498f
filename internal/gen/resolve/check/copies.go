package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// keepsKey is how a hint names the promises under which the key may be any.
const keepsKey = "state assume: [ordered, copies_keep_record_key] if all duplicates of an event carry its record key, and each record key stays in one partition"

// checkCopies reports copies: same_partition where a copy could come through another
// partition, which remembers other keys (E411). Copies of an event come through one if they
// have one record key, and that stays in one partition. The first is so if the key contains
// the record key, or if the producer promises it.
func checkCopies(report *syntax.Diagnostics, e *draft.Event) {
	k, t := e.Model.Key, e.Topic
	if k == nil || !k.SamePartition || t.OrderUnknown || e.KeySpec().Broken {
		return
	}
	spec := e.KeySpec()
	fail := func(why, hint string) {
		report.Add(spec.Copies.Pos, "E411", fmt.Sprintf("copies: same_partition is not proven for %s: %s", keyOwner(e), why), hint+"; otherwise use copies: anywhere"+withoutPromise(t, spec))
	}
	if t.Key == nil {
		fail("the topic has no record_key",
			"declare record_key, then either include it in the key source and state assume: [ordered], or "+keepsKey)
		return
	}
	if len(k.Parts) == len(spec.Source) && !t.Model.CopiesKeepKey { // else a part was refused, or need not be there
		if lacks := t.Key.Lacking(k.Parts); len(lacks) > 0 {
			fail("the key does not contain the record key", "include "+strings.Join(lacks, " and ")+" in the key source, or "+keepsKey)
		}
	}
	if !t.Model.Ordered {
		fail("the topic does not declare that each record key stays in one partition", "state assume: [ordered] if that holds")
	}
	if t.Model.Ordered && len(k.Parts) == len(spec.Source) && !t.Model.OneTopic(fieldsIn(k.Parts)) {
		fail("one record key may be in several topics", "include the topic in the key source, as a field {type: string, record: topic}")
	}
}

// fieldsIn are the fields among the parts of a key.
func fieldsIn(parts []model.KeySource) (fields []*model.Field) {
	for _, p := range parts {
		fields = append(fields, p.Field)
	}
	return fields
}

// keyOwner names whose key the event has: the topic's is one problem, however many events have it.
func keyOwner(e *draft.Event) string {
	if e.Spec.IdempotencyKey != nil {
		return e.Is()
	}
	return "topic " + wording.Quote(e.Topic.Spec.Name.Value)
}

// withoutPromise continues a hint by which a key needs the promise no longer: it goes, too, if
// no other key needs it.
func withoutPromise(t *draft.Topic, spec *syntax.IdempotencyKey) string {
	other := func(e *draft.Event) bool { return e.KeySpec() != spec && e.KeptByRecordKey() }
	if !t.Model.CopiesKeepKey || slices.ContainsFunc(t.Events, other) {
		return ""
	}
	return " and remove copies_keep_record_key"
}
