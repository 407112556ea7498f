package wire

// Claim is a key that the batch claims.
type Claim struct {
	Key   Key
	Def   uint32 // definition of the event's content
	Print uint32 // fingerprint of the event's content
	Here  bool   // copies: same_partition: the chain holds the key, not idem_keys
}

// Prior is a key claimed earlier: its fingerprint and the definition it was made under.
type Prior struct {
	Print uint32
	Def   uint32
}

// Known tells which keys were claimed before a transaction.
type Known interface {
	// Find finds a key: in the chain of this partition if here, else among the keys that all
	// partitions share.
	Find(key Key, here bool) (p Prior, ok bool)
}

// keys are those that the events of a batch claim.
type keys struct {
	claims  []Claim
	mine    map[Key]int // key -> index in claims
	hidden  []Key       // unknown keys of records that a later key of theirs made conflicts
	known   Known       // keys that were claimed before this transaction
	former  []Key       // of the next event
	keyless int         // events that count by their offset although their topic has keys
	dup     Key         // of the last record whose outcome was Resent
}

func (k *keys) reset(known Known) {
	clear(k.mine)
	k.claims, k.hidden = k.claims[:0], k.hidden[:0]
	k.known, k.keyless = known, 0
}

// Also names a key that the next event would have had under an earlier source of the spec: a copy
// that carries only that key is a duplicate, too. A zero key (a part is missing) is passed over.
// Call it before Claim.
func (b *Batch) Also(key Key) {
	if key != (Key{}) {
		b.keys.former = append(b.keys.former, key)
	}
}

// Claim claims the event's key: for all partitions or, if here, in the chain of this partition,
// through which all copies come. It returns false for a duplicate: the caller then adds nothing.
// It returns a [ConflictError] if the key is known with other content.
//
// Former keys come before the event's own; the first one that is known decides. The other keys of
// a duplicate are claimed, too: a later copy may carry only one of them. An event with the zero
// key is identified by its former key, or counts by its offset if it has none.
//
// print is the fingerprint of the content. Call Claim after everything that can refuse the event,
// before the first row.
func (b *Batch) Claim(event string, key Key, content *Content, print uint32, here bool) (fresh bool, err error) {
	b.record.event = event
	keys := b.keys.former
	if key != (Key{}) {
		keys = append(keys, key)
	}
	b.keys.former = keys[:0]
	if len(keys) == 0 {
		b.keys.keyless++
		return true, nil
	}
	b.record.key, b.record.content, b.record.print = keys[len(keys)-1], content, print
	fresh = true
	unknown := keys[:0]
	for _, k := range keys {
		known, dup := b.keys.find(k, here)
		switch {
		case !dup:
			unknown = append(unknown, k)
		case !fresh: // the first known key has said what the record is
		case content.conflicts(known, print):
			if !here {
				b.keys.hidden = append(b.keys.hidden, unknown...)
			}
			return false, &ConflictError{Event: event, Key: k}
		default:
			b.record.outcome, b.keys.dup, fresh = Resent, k, false
		}
	}
	for _, k := range unknown { // a duplicate's, too: a later copy may carry that key alone
		b.keys.mine[k] = len(b.keys.claims)
		b.keys.claims = append(b.keys.claims, Claim{k, content.Def, print, here})
	}
	return fresh, nil
}

// find finds a key in this batch and before it.
func (k *keys) find(key Key, here bool) (Prior, bool) {
	if i, ok := k.mine[key]; ok {
		return Prior{Print: k.claims[i].Print, Def: k.claims[i].Def}, true
	}
	if k.known == nil {
		return Prior{}, false
	}
	return k.known.Find(key, here)
}

// Hidden are keys, shared by all partitions, of records that became conflicts. They come
// before the key that is known with other content, and if one of them is known after all, it
// decides instead.
func (b *Batch) Hidden() []Key { return b.keys.hidden }

// Keyless is how many events of the batch have no key of their own, although their topic
// has one, and count by their offset (missing: offset).
func (b *Batch) Keyless() int { return b.keys.keyless }

// Duplicate is the key of the last record whose outcome was [Resent].
func (b *Batch) Duplicate() Key { return b.keys.dup }
