package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// checkCopies reports copies: same_partition where a copy could come through another
// partition, which remembers other keys (E411).
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
		fail(fmt.Sprintf("topic %s has no record_key", quote(t.spec.Name.Value)), "declare record_key, include it in the key source and state assume: {ordered_by: record_key}")
		return
	}
	if len(k.Parts) == len(spec.Source) { // else a part was refused
		if lacks := t.key.lacking(k.Parts); len(lacks) > 0 {
			fail("the key does not contain the record key", "include "+strings.Join(lacks, " and ")+" in the key source and state assume: {ordered_by: record_key}")
		}
	}
	for _, former := range k.Former {
		if lacks := t.key.lacking(former.Parts); len(lacks) > 0 {
			fail(fmt.Sprintf("the former source %s does not contain the record key", partsText(former.Parts)), "include "+strings.Join(lacks, " and ")+" in it")
		}
	}
	if !t.model.Ordered {
		fail(fmt.Sprintf("topic %s does not say that one record key stays in one partition", quote(t.spec.Name.Value)), "state assume: {ordered_by: record_key} if that holds")
	}
	if reach(spec) == 1 {
		fail("unique_per: consumer reaches into other topics, which have partitions of their own", "use unique_per: topic")
	}
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
