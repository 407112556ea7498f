package wire

// Event says how records are decoded into events of one kind, and which of them are duplicates. E
// is the generated struct, and D the decoder of the topic's format. It is read-only.
type Event[E any, D Decoder] struct {
	Name      string // Go name
	OnFailure *FailurePolicy
	// Decode decodes a record into an event. It may reuse the memory of the event's old content.
	Decode func(e *E, d D, m *Message)
	// Owned says that the event outlives the batch, because a handler receives it.
	Owned bool
	// Fits checks that values fit their columns; nil if there is nothing to check.
	Fits func(e *E, f *Fit)
	// Key adds the parts of the key; nil if the event is identified by its offset. The fields
	// below are then empty.
	Key func(e *E, k *KeyBuilder, m *Message)
	// Space is a prefix of 16 bytes that is hashed into all keys of the event: a hash of the
	// consumer, the topic, the event and the names of the key's parts.
	Space string
	// Here says that all duplicates arrive through one partition, whose chain holds the key.
	Here bool
	// Print adds the values on which duplicates must agree; Content is the hash of their
	// definition.
	Print   func(e *E, f *Fingerprint)
	Content uint32
}

// Take decodes m into e and claims its key. It returns true if the event is new: the caller then
// adds its rows. It returns false and a nil error for a duplicate. Everything that can reject the
// event is checked before the key is claimed.
func (ev *Event[E, D]) Take(b *Batch, m *Message, d D, e *E) (fresh bool, err error) {
	b.record.event = ev.Name
	if ev.OnFailure != nil {
		b.record.policy = ev.OnFailure
	}
	if ev.Owned {
		d.Reset(m)
	} else {
		d.Borrow(m)
	}
	ev.Decode(e, d, m)
	if err := d.Finish(ev.Name); err != nil {
		return false, err
	}
	if ev.Key == nil {
		err := ev.fit(b, e)
		return err == nil, err
	}
	k := &b.builder
	k.Start(ev.Space)
	ev.Key(e, k, m)
	key, err := k.Sum(ev.Name)
	if err != nil {
		return false, err
	}
	if err := ev.fit(b, e); err != nil {
		return false, err
	}
	b.print.Start()
	ev.Print(e, &b.print)
	return b.Claim(ev.Name, key, ev.Content, b.print.Sum(), ev.Here)
}

func (ev *Event[E, D]) fit(b *Batch, e *E) error {
	if ev.Fits == nil {
		return nil
	}
	b.fit = Fit{}
	ev.Fits(e, &b.fit)
	return b.fit.Err(ev.Name)
}
