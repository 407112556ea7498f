package model

// Payload says how the values of a topic's records are written.
type Payload struct {
	// Encoding is what a record's value is packed in: json_string, or "" for nothing. It is unpacked
	// before anything else is read of it.
	Encoding     string
	AbsentMarker string // text that means that a patch field is not there; "" if there is none
}
