package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// keepsKey is how a hint names the promise under which the key may be any.
const keepsKey = "copies_keep_record_key: true if all copies of an event carry its record key"

// checkCopies reports copies: same_partition where a copy could come through another
// partition, which remembers other keys (E411). Copies of an event come through one if they
// have one record key, and that stays in one partition. The first is so if the key contains
// the record key, or if the producer promises it.
func (r *resolver) checkCopies(e *event) {
	k, t := e.model.Key, e.topic
	if k == nil || !k.SamePartition || t.orderUnknown {
		return
	}
	spec := e.keySpec()
	fail := func(why, hint string) {
		r.fail(spec.Copies.Pos, "E411", fmt.Sprintf("copies: same_partition is not proven for %s: %s", e.is(), why), hint+", or use copies: anywhere")
	}
	if t.key == nil {
		fail(fmt.Sprintf("topic %s has no record_key", quote(t.spec.Name.Value)),
			"declare record_key and state assume: {ordered_by: record_key}; include record_key in the key source, or state "+keepsKey)
		return
	}
	if len(k.Parts) == len(spec.Source) && !t.model.CopiesKeepKey { // else a part was refused, or need not be there
		if lacks := t.key.lacking(k.Parts); len(lacks) > 0 {
			fail("the key does not contain the record key", "include "+strings.Join(lacks, " and ")+" in the key source, or state "+keepsKey)
		}
	}
	for _, former := range k.Former {
		if lacks := t.key.lacking(former.Parts); len(lacks) > 0 && !t.model.CopiesKeepKey {
			fail(fmt.Sprintf("the former source %s does not contain the record key", partsText(former.Parts)),
				"include "+strings.Join(lacks, " and ")+" in it, or state "+keepsKey)
		}
	}
	if !t.model.Ordered {
		fail(fmt.Sprintf("topic %s does not say that one record key stays in one partition", quote(t.spec.Name.Value)), "state assume: {ordered_by: record_key} if that holds")
	}
	if reach(spec) == 1 {
		fail("unique_per: consumer reaches into other topics, which have partitions of their own", "use unique_per: topic")
	}
}

// checkPromiseHasOrder reports copies_keep_record_key without ordered_by (E413): a record key
// that all copies carry says where they are only if it stays in one partition.
func (r *resolver) checkPromiseHasOrder(t *topic) {
	if !t.model.CopiesKeepKey {
		return
	}
	t.orderUnknown = true
	if !t.spec.Broken {
		r.fail(t.spec.Assume.CopiesKeepKey.Key, "E413", fmt.Sprintf("copies_keep_record_key needs ordered_by: record_key on topic %s", quote(t.spec.Name.Value)),
			"state ordered_by: record_key too if one record key stays in one partition, or drop copies_keep_record_key")
	}
}

// checkPromiseIsNeeded reports copies_keep_record_key where it proves nothing (E412): no key
// of the topic has copies: same_partition, or all that have contain the record key.
func (r *resolver) checkPromiseIsNeeded(t *topic) {
	if !t.model.CopiesKeepKey || !t.complete() || slices.ContainsFunc(t.events, (*event).needsPromise) {
		return
	}
	r.fail(t.spec.Assume.CopiesKeepKey.Key, "E412", fmt.Sprintf(`"copies_keep_record_key" has no meaning for topic %s: it proves copies: same_partition for keys that do not contain the record key, and there is none`,
		quote(t.spec.Name.Value)), "drop it, or say copies: same_partition in idempotency_key")
}

// needsPromise reports whether the event is known by a key of one partition that does not
// contain the record key.
func (e *event) needsPromise() bool {
	k, lacks := e.model.Key, func(parts []model.KeySource) bool { return len(e.topic.key.lacking(parts)) > 0 }
	return k.SamePartition && (lacks(k.Parts) || slices.ContainsFunc(k.Former, func(f model.FormerKey) bool { return lacks(f.Parts) }))
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
