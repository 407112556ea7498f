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

// conflicts reports whether an event with the same key has different content.
func (p Prior) conflicts(def, print uint32) bool { return p.Def == def && p.Print != print }

// Known knows which keys were claimed before a transaction.
type Known interface {
	// Find looks up a key: in the chain of this partition if here is true, otherwise among the
	// keys that all partitions share.
	Find(key Key, here bool) (p Prior, ok bool)
}

// keys are those that the events of a batch claim.
type keys struct {
	claims []Claim
	mine   map[Key]int // key -> index in claims
	hidden []Key       // unknown keys of records that were rejected after their claim
	known  Known       // keys that were claimed before this transaction
}

func (k *keys) reset(known Known) {
	clear(k.mine)
	k.claims, k.hidden = k.claims[:0], k.hidden[:0]
	k.known = known
}

// Claim claims the event's key: for all partitions or, if here is true, in the chain of this
// partition, through which all duplicates arrive. It returns false for a duplicate: the caller
// then adds nothing. It returns a [ConflictError] if the key is known with different content.
//
// print is the fingerprint of the content, and content is the hash of its definition. Another
// version of the service may have stored a fingerprint made under another definition. Such
// fingerprints cannot be compared: an event with a known key then counts as a duplicate, whatever
// its content is. Call Claim after everything that can reject the event, and before its first row.
func (b *Batch) Claim(event string, key Key, content, print uint32, here bool) (fresh bool, err error) {
	b.record.event = event
	b.record.key, b.record.content, b.record.print = key, content, print
	known, dup := b.keys.find(key, here)
	switch {
	case !dup:
		b.keys.mine[key] = len(b.keys.claims)
		b.keys.claims = append(b.keys.claims, Claim{key, content, print, here})
		return true, nil
	case known.conflicts(content, print):
		return false, &ConflictError{Event: event, Key: key}
	}
	b.record.outcome = Resent
	return false, nil
}

// find looks up a key in this batch and before it.
func (k *keys) find(key Key, here bool) (Prior, bool) {
	if i, ok := k.mine[key]; ok {
		return Prior{Print: k.claims[i].Print, Def: k.claims[i].Def}, true
	}
	if k.known == nil {
		return Prior{}, false
	}
	return k.known.Find(key, here)
}

// Hidden returns the keys, among those that all partitions share, of records that were rejected
// after their claim. If one of these keys turns out to be known, its record is a duplicate.
func (b *Batch) Hidden() []Key { return b.keys.hidden }
