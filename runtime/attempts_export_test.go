package idem

// Attempts is how many appends of the writer may have committed unseen.
func (w *Writer) Attempts() int { return len(w.owner.attempts) }
