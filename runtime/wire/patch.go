package wire

// Patch is a field that says what becomes of a value: it stays as it is, it becomes NULL, or
// it becomes Value. Its zero value leaves the value as it is.
type Patch[T any] struct {
	State PatchState
	Value T // zero unless State is PatchValue
}

// PatchState is what a [Patch] does.
type PatchState uint8

// What a patch does.
const (
	PatchAbsent PatchState = iota // the record does not hold the field: nothing changes
	PatchNull                     // the record holds null
	PatchValue                    // the record holds a value
)

// Sent reports whether the record holds the field, be it null.
func (p *Patch[T]) Sent() bool { return p.State != PatchAbsent }

// Pointer points to the value; it is nil if there is none.
func (p *Patch[T]) Pointer() *T {
	if p.State != PatchValue {
		return nil
	}
	return &p.Value
}

// Patch adds that a field of an event's content is NULL, if a patch says so: that is other
// content than a record without the field.
func (f *Fingerprint) Patch(name string, state PatchState) {
	if state == PatchNull {
		f.name(name).fixed8(partNull, 0)
	}
}
