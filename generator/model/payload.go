package model

// Payload says how the values of a topic's records are written.
type Payload struct {
	AbsentMarker  string // text that means that a patch field is not there; "" if there is none
	RefuseUnknown bool   // unknown_members: error
}
