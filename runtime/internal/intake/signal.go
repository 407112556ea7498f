package intake

// Signal wakes the goroutine that receives from it. What is sent before it wakes counts once.
type Signal chan struct{}

// NewSignal returns a signal that was not sent.
func NewSignal() Signal { return make(Signal, 1) }

// Send never waits.
func (s Signal) Send() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// clear takes back what was sent and not received.
func (s Signal) clear() {
	select {
	case <-s:
	default:
	}
}
