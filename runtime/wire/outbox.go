package wire

// Outbox is what generated code says of the table that holds what a service sends.
type Outbox struct {
	Table   string // as statements name it
	Headers []OutboxHeader
}

// OutboxHeader is a header that a spec declares, and the column that holds its value.
type OutboxHeader struct{ Name, Column string }
