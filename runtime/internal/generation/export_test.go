package generation

// Fill is for the tests, which cannot import what imports this package.
var Fill = fill

// Settle waits until no filter is being built.
func (f *Filters) Settle() { f.builder.Wait() }
