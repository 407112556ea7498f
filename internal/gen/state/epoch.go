package state

import (
	"slices"
	"strconv"

	"github.com/idemgen/idemgen/internal/gen/definition"
	"github.com/idemgen/idemgen/internal/gen/model"
)

// identity is the hash of what an event's key is made of, and of where it is stored.
func (k Key) identity() uint32 {
	if len(k.Parts) == 0 {
		return definition.Hash("offset")
	}
	return definition.Hash(append([]string{k.Space, k.Copies}, k.Parts...)...)
}

// moved is the key once events that were known by another identity are events of it.
func (k Key) moved(from uint32) Key {
	k.History = definition.Hash(text(k.History), text(from), text(k.identity()))
	return k
}

// follow gives the keys of this run what the state knows of their past, and keeps the keys of
// events that are gone: they may come back with another identity.
func follow(old *State, s *model.Service) []Key {
	now := keys(s)
	if old == nil {
		return now
	}
	l := lineages(old, s)
	var next []Key
	used := map[[2]string]bool{}
	for _, t := range s.Topics {
		for _, e := range t.Events {
			n, stored := find(now, Key{Topic: t.Name, Event: e.Name})
			before := l.before(n)
			if !stored && len(before) == 0 {
				continue
			}
			for _, o := range before {
				if o.Renamed || o.Event == n.Event { // it goes on
					used[[2]string{o.Topic, o.Event}] = true
					n.History = o.History
				}
				if o.identity() != n.identity() {
					n = n.moved(o.identity())
				}
			}
			next = append(next, n)
		}
	}
	for _, o := range old.Keys {
		if !used[[2]string{o.Topic, o.Event}] {
			o.Gone = true
			next = insert(next, o)
		}
	}
	return next
}

// insert puts a key behind those of its topic.
func insert(all []Key, k Key) []Key {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Topic == k.Topic {
			return slices.Insert(all, i+1, k)
		}
	}
	return append(all, k)
}

func find(all []Key, k Key) (Key, bool) {
	if i := slices.IndexFunc(all, k.same); i >= 0 {
		return all[i], true
	}
	return k, false
}

// epochs decides what the service writes into the ledger, and behind what it goes on: all that
// earlier versions wrote.
func (s *State) epochs(old *State) {
	if old == nil {
		var texts []string
		for _, k := range s.Keys {
			texts = append(texts, k.Topic, k.Event, text(k.identity()))
		}
		s.Identity = definition.Hash(texts...)
		s.Knows = []uint32{s.Identity}
		return
	}
	first := old.Knows[0]
	s.Identity = epoch(first, s.Keys)
	s.Knows = know(slices.Clone(old.Knows), s.Identity)
}

func know(all []uint32, identity uint32) []uint32 {
	if slices.Contains(all, identity) {
		return all
	}
	return append(all, identity)
}

// epoch is the first identity of a service, or the hash of what moved since.
func epoch(first uint32, keys []Key) uint32 {
	var moves []string
	for _, k := range keys {
		if k.History != 0 {
			moves = append(moves, text(k.History))
		}
	}
	if len(moves) == 0 {
		return first
	}
	slices.Sort(moves)
	return definition.Hash(append([]string{text(first)}, slices.Compact(moves)...)...)
}

// text is a hash as the file holds it.
func text(hash uint32) string {
	digits := strconv.FormatUint(uint64(hash), 16)
	return "00000000"[len(digits):] + digits
}
