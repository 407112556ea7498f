package wire

// Patch is a field that says how to change a value: leave it as it is, set it to NULL, or set it
// to Value. The zero value leaves it as it is.
type Patch[T any] struct {
	State PatchState
	Value T // zero unless State is PatchValue
}

// PatchState says what a [Patch] does.
type PatchState uint8

// What a patch does.
const (
	PatchAbsent PatchState = iota // the record does not have the field: nothing changes
	PatchNull                     // the record has null
	PatchValue                    // the record has a value
)

// Sent reports whether the record has the field, even if it is null.
func (p *Patch[T]) Sent() bool { return p.State != PatchAbsent }

// Pointer returns a pointer to the value, or nil if there is none.
func (p *Patch[T]) Pointer() *T {
	if p.State != PatchValue {
		return nil
	}
	return &p.Value
}

// Patch adds that a field of an event's content is NULL, if a patch says so: a record with null
// has different content from a record without the field.
func (f *Fingerprint) Patch(name string, state PatchState) {
	if state == PatchNull {
		f.name(name).fixed8(partNull, 0)
	}
}
