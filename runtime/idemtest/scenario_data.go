package idemtest

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/runtime/idem"
)

// poison puts a broken record between two that are not.
func poison(b *trial) {
	bad, at := breakable(b, brokenPayload)
	if at < 0 {
		bad, at = breakable(b, brokenRest)
	}
	if at < 0 {
		b.t.Skip("no record of this topic has a part that could be broken")
	}
	b.apply(with(b, []idem.Message{bad}, max(at, len(b.log)/2), expectedDead{})...)
}

// misEncoded puts records whose values cannot be unpacked among the others.
func misEncoded(b *trial) {
	like, at := breakable(b, func(r record) (idem.Message, bool) {
		return r.message, b.packed[r.message.Topic] != nil && b.packed[r.message.Topic].Payload.Encoding != "" && len(r.message.Value) > 0
	})
	if at < 0 {
		b.t.Skip("no record of this topic has a value that is packed in anything")
	}
	var bad []idem.Message
	for _, value := range b.misPacked(like) {
		m := like
		m.Value = value
		bad = append(bad, m)
	}
	all := with(b, bad, at, expectedDead{class: "decode", mayWait: true})
	for at := range b.ownDead {
		b.asIs[at] = true
	}
	b.apply(all...)
}

// breakable breaks the record after which the most records follow that its dead letter does not
// hold: none of them has its record key. They begin at an index of the log; -1 if nothing breaks.
func breakable(b *trial, breaks func(record) (idem.Message, bool)) (bad idem.Message, at int) {
	at = -1
	for _, r := range b.log {
		m, ok := breaks(r)
		if !ok {
			continue
		}
		free := 0
		for _, o := range b.log {
			if m.Key != nil && o.message.Topic == m.Topic && bytes.Equal(o.message.Key, m.Key) {
				free = o.index + 1
			}
		}
		if at < 0 || free < at {
			bad, at = m, free
		}
	}
	return bad, at
}

// with is the log with records of a topic in front of an index, which become dead letters.
func with(b *trial, bad []idem.Message, at int, want expectedDead) (all []idem.Message) {
	next := map[string]int64{} // offset, by topic
	take := func(topic string) int64 { next[topic]++; return next[topic] - 1 }
	insert := func() {
		for _, m := range bad {
			m.Partition, m.Offset = 0, take(m.Topic)
			b.reached[partitionOf(m)] = m.Offset + 1
			b.ownDead[placeOf(m)] = want
			all = append(all, m)
		}
	}
	for _, r := range b.log {
		if r.index == at {
			insert()
		}
		all = append(all, b.at(r, 0, take(r.message.Topic)))
	}
	if at == len(b.log) {
		insert()
	}
	return all
}

// brokenPayload is the record with a payload that cannot be decoded, where one is read.
func brokenPayload(r record) (idem.Message, bool) {
	m := r.message
	ok := len(m.Value) > 1 && !r.copies.Opaque
	m.Value = []byte(`{"`)
	return m, ok
}

// brokenRest is the record without a record key, and with every header twice.
func brokenRest(r record) (idem.Message, bool) {
	m := r.message
	m.Key, m.Headers = nil, slices.Concat(m.Headers, m.Headers)
	return m, r.keyed || len(m.Headers) > 0
}

// among reports whether the value at a path is one of the members, or in one.
func among(members []string, path string) bool {
	return slices.ContainsFunc(members, func(member string) bool {
		rest, inside := strings.CutPrefix(path, member)
		return inside && (rest == "" || rest[0] == '.' || rest[0] == '[' || member == "")
	})
}

// conflict sends events again with one value of the payload changed at a time. On a bench
// of its own it finds out what each change means: a conflict, another event because the
// value is part of the key, or no longer valid. Never a duplicate, unless the value is not
// compared: then never a conflict.
func conflict(b *trial) {
	var conflicts []idem.Message
	trial := b.newTrial(b.t)
	owners := trial.owners()
	owners.deliver(trial.messages(trial.log))
	known := b.values()
	for _, r := range trial.sample() {
		for _, v := range variants(r.message, known) {
			m := trial.copied(r, 0, trial.end(r))
			as := b.pack(m).Value
			if m.Value = v.value; bytes.Equal(b.pack(m).Value, as) { // the encoding cannot hold the other one
				continue
			}
			res, err := trial.try(b.t.Context(), owners.writer(partitionOf(m)), []idem.Message{m})
			_, halted := errors.AsType[*idem.HaltedError](err)
			switch {
			case halted: // on_failure says stop
			case err != nil:
				b.t.Fatalf("the event of offset %d with another %s: %v", r.index, v.path, err)
			case res.Conflicts == 1 && among(r.copies.Loose, v.path):
				b.t.Errorf("the event of offset %d was sent again with another %s, which is not compared, and was taken for a conflict", r.index, v.path)
			case res.Conflicts == 1:
				conflicts = append(conflicts, m)
			case res.Duplicates == 1 && !b.handlers && !among(r.copies.Loose, v.path) && !among(r.copies.Naming, v.path): // a log of the service may hold undeclared members
				b.t.Errorf("the event of offset %d was sent again with another %s, and was taken for a duplicate", r.index, v.path)
			}
		}
	}
	all := b.messages(b.log)
	for i := range conflicts {
		p := partitionOf(conflicts[i])
		conflicts[i].Offset = b.reached[p]
		b.reached[p]++
		b.ownDead[placeOf(conflicts[i])] = expectedDead{class: "conflict"}
	}
	b.apply(append(all, conflicts...)...)
}

// tombstone sends a record with an empty value where a tombstone has an effect, and one
// without a value where it has none.
func tombstone(b *trial) {
	b.apply(b.messages(b.log)...)
	like := slices.IndexFunc(b.log, func(r record) bool { return r.message.Value == nil })
	if like < 0 && b.buries { // of a log that is drawn
		b.t.Skip("the log has no tombstone")
	}
	from := like
	if like < 0 { // a record whose key does not wait
		waits := keysThatWait(b)
		from = slices.IndexFunc(b.log, func(r record) bool { return !waits(r) })
	}
	r := b.log[max(from, 0)]
	m, what := b.copied(r, 0, b.end(r)), "a record without a value, on a topic without a tombstone event,"
	if m.Value = nil; like >= 0 {
		m.Value, what = []byte{}, "an empty value in place of a tombstone"
	}
	res, err := b.try(b.t.Context(), b.takeOver(partitionOf(m)), []idem.Message{m})
	switch _, halted := errors.AsType[*idem.HaltedError](err); {
	case halted:
		b.reached[partitionOf(m)], b.inexact = m.Offset, true
	case err == nil && res.Ignored == 1:
	case err == nil && res.Dead == 1:
		b.ownDead[placeOf(m)] = expectedDead{}
	case err == nil && res.Waiting == 1 && from < 0: // every key waits
		b.ownDead[placeOf(m)] = expectedDead{class: parkedClass}
	default:
		b.t.Errorf("%s had an effect: %+v, %v", what, res, err)
	}
}
