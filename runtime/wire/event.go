package wire

// Event says how records become events of one kind and which of them are copies. E is the
// generated struct, D the decoder of the topic's format. It is read only.
type Event[E any, D Decoder] struct {
	Name      string // Go name
	OnFailure *FailurePolicy
	// Decode reads a record into an event, whose old content it may use as memory.
	Decode func(e *E, d D, m *Message)
	// Owned says that the event outlives the batch: a handler gets it.
	Owned bool
	// Fits checks values against their columns; nil if there is nothing to check.
	Fits func(e *E, f *Fit)
	// Key adds the parts of the key; nil if the event is identified by its offset. Then what
	// follows is empty.
	Key func(e *E, k *KeyBuilder, m *Message)
	// Space is 16 bytes that all keys begin with: a hash of consumer, topic and event, and of what
	// the parts are called.
	Space string
	// Here says that all copies come through one partition, whose chain holds the key.
	Here bool
	// Print adds the values that copies must share; Content is the hash of what they are.
	Print   func(e *E, f *Fingerprint)
	Content uint32
}

// Take decodes m into e and claims its key. It returns true if the event is new: then the
// caller adds its rows. It returns false without an error for a duplicate. Whatever can refuse
// the event is checked before the key is claimed.
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
