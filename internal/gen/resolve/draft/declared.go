package draft

// Declared finds what is declared under the names of one kind.
type Declared[T any] struct {
	Names []string // in the order of declaration
	named map[string]T
}

// Add declares a name.
func (d *Declared[T]) Add(name string, thing T) {
	if d.named == nil {
		d.named = map[string]T{}
	}
	d.Names = append(d.Names, name)
	d.named[name] = thing
}

// Find returns what a name means; the zero value if it is unknown.
func (d *Declared[T]) Find(name string) T { return d.named[name] }
