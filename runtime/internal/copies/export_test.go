package copies

// Rows is how many rows were read.
func (a *Audit) Rows() int64 { return a.rows }

// Sample is how many keys are remembered, how many may be, and of how many one is.
func (a *Audit) Sample() (held, limit, share int) {
	return len(a.sample.places), most, a.sample.share()
}

// Part is how many rows one statement reads.
const Part = part
