package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// keepsKey is how a hint names the promises under which the key may be any.
const keepsKey = "state assume: {ordered_by: record_key, copies_keep_record_key: true} if all copies of an event carry its record key, and that stays in one partition"

// checkCopies reports copies: same_partition where a copy could come through another
// partition, which remembers other keys (E411). Copies of an event come through one if they
// have one record key, and that stays in one partition. The first is so if the key contains
// the record key, or if the producer promises it.
func (r *resolver) checkCopies(e *event) {
	k, t := e.model.Key, e.topic
	if k == nil || !k.SamePartition || t.orderUnknown || e.keySpec().Broken {
		return
	}
	spec := e.keySpec()
	fail := func(why, hint string) {
		r.fail(spec.Copies.Pos, "E411", fmt.Sprintf("copies: same_partition is not proven for %s: %s", e.ofKey(), why), hint+", or use copies: anywhere"+t.withoutPromise(spec))
	}
	if t.key == nil {
		fail("the topic has no record_key",
			"declare record_key; include it in the key source and state assume: {ordered_by: record_key}, or "+keepsKey)
		return
	}
	if len(k.Parts) == len(spec.Source) && !t.model.CopiesKeepKey { // else a part was refused, or need not be there
		if lacks := t.key.lacking(k.Parts); len(lacks) > 0 {
			fail("the key does not contain the record key", "include "+strings.Join(lacks, " and ")+" in the key source, or "+keepsKey)
		}
	}
	for _, former := range k.Former {
		if lacks := t.key.lacking(former.Parts); len(lacks) > 0 && !t.model.CopiesKeepKey {
			fail(fmt.Sprintf("the former source %s does not contain the record key", partsText(former.Parts)),
				"include "+strings.Join(lacks, " and ")+" in it, or "+keepsKey)
		}
	}
	if !t.model.Ordered {
		fail("the topic does not say that one record key stays in one partition", "state assume: {ordered_by: record_key} if that holds")
	}
	if reach(spec) == 1 {
		fail("unique_per: consumer reaches into other topics, which have partitions of their own", "use unique_per: topic")
	}
}

// ofKey names whose key the event has: the topic's is one problem, however many events have it.
func (e *event) ofKey() string {
	if e.spec.IdempotencyKey != nil {
		return e.is()
	}
	return "topic " + quote(e.topic.spec.Name.Value)
}

// withoutPromise continues a hint by which a key needs the promise no longer: it goes, too, if
// no other key needs it.
func (t *topic) withoutPromise(spec *schema.IdempotencyKey) string {
	other := func(e *event) bool { return e.keySpec() != spec && e.keptByRecordKey() }
	if !t.model.CopiesKeepKey || slices.ContainsFunc(t.events, other) {
		return ""
	}
	return " and drop copies_keep_record_key"
}

// checkPromiseHasOrder reports copies_keep_record_key without ordered_by (E413): a record key
// that all copies carry says where they are only if it stays in one partition.
func (r *resolver) checkPromiseHasOrder(t *topic) {
	if !t.model.CopiesKeepKey {
		return
	}
	t.orderUnknown = true
	if !t.spec.Broken && !t.spec.Assume.Broken {
		state := "state ordered_by: record_key too"
		if t.key == nil {
			state = "declare record_key and " + state
		}
		r.fail(t.spec.Assume.CopiesKeepKey.Key, "E413", fmt.Sprintf("copies_keep_record_key needs ordered_by: record_key on topic %s", quote(t.spec.Name.Value)),
			state+" if one record key stays in one partition, or drop copies_keep_record_key")
	}
}

// checkPromiseIsNeeded reports copies_keep_record_key where it proves nothing (E412): no key
// of the topic has copies: same_partition, or all that have contain the record key. Where a
// key was refused it may be needed.
func (r *resolver) checkPromiseIsNeeded(t *topic) {
	refused := func(e *event) bool { return e.keySpec().Broken && !e.model.Key.Offset }
	if !t.model.CopiesKeepKey || !t.complete() || slices.ContainsFunc(t.events, (*event).needsPromise) || slices.ContainsFunc(t.events, refused) {
		return
	}
	r.fail(t.spec.Assume.CopiesKeepKey.Key, "E412", fmt.Sprintf(`"copies_keep_record_key" has no meaning for topic %s: it proves copies: same_partition for keys that do not contain the record key, and there is none`,
		quote(t.spec.Name.Value)), t.insteadOfPromise())
}

// insteadOfPromise is what to do about a promise that proves nothing: a key for which it could
// prove something may be meant; else the hint says why there is none.
func (t *topic) insteadOfPromise() string {
	hint := "drop it: no key is stored"
	for _, e := range t.events {
		switch {
		case e.model.Key.Offset:
		case !e.lacksRecordKey():
			hint = "drop it: the key holds the record key"
		case reach(e.keySpec()) == 1:
			hint = "drop it: unique_per: consumer needs copies: anywhere"
		default:
			return "drop it, or say copies: same_partition in idempotency_key"
		}
	}
	return hint
}

// needsPromise reports whether the event is known by a key of one partition that does not
// contain the record key.
func (e *event) needsPromise() bool { return e.model.Key.SamePartition && e.lacksRecordKey() }

// lacksRecordKey reports whether a source of the event's key does not contain the record key.
func (e *event) lacksRecordKey() bool {
	k, lacks := e.model.Key, func(parts []model.KeySource) bool { return len(e.topic.key.lacking(parts)) > 0 }
	return lacks(k.Parts) || slices.ContainsFunc(k.Former, func(f model.FormerKey) bool { return lacks(f.Parts) })
}

// keptByRecordKey reports whether only the producer's promise says that copies of the event
// carry its record key.
func (e *event) keptByRecordKey() bool {
	return e.topic.model.CopiesKeepKey && e.topic.key != nil && e.model.Key != nil && e.needsPromise()
}

// lacking are the parts of the record key that are no part of an idempotency key.
func (k *recordKey) lacking(parts []model.KeySource) (names []string) {
	for _, p := range k.model.Parts {
		has := func(s model.KeySource) bool {
			return s.Field != nil && partOf(model.Value{Kind: model.FieldValue, Field: s.Field}) == p
		}
		if !slices.ContainsFunc(parts, has) {
			names = append(names, p.Name)
		}
	}
	return names
}
