package forms

import (
	"encoding/json"
	"fmt"

	idem "github.com/idemgen/idemgen/runtime"
)

// ServiceCodecs implements Codecs. This file is yours: idemgen does not touch it again.
type ServiceCodecs struct{}

// Sealed turns what a record holds, raw, into a value of type Sealed. It must tell the same of
// the same bytes always, without I/O. An error makes the record a dead letter.
func (ServiceCodecs) Sealed(raw []byte) (v string, err error) {
	return v, fmt.Errorf("Sealed: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}

// Doc turns what a record holds, raw, into a value of type Doc. It must tell the same of
// the same bytes always, without I/O. An error makes the record a dead letter.
func (ServiceCodecs) Doc(raw []byte) (v json.RawMessage, err error) {
	return v, fmt.Errorf("Doc: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}

// Day turns what a record holds, raw, into a value of type Day. It must tell the same of
// the same bytes always, without I/O. An error makes the record a dead letter.
func (ServiceCodecs) Day(raw []byte) (v idem.Date, err error) {
	return v, fmt.Errorf("Day: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}

// Local turns what a record holds, raw, into a value of type Local. It must tell the same of
// the same bytes always, without I/O. An error makes the record a dead letter.
func (ServiceCodecs) Local(raw []byte) (v idem.LocalTime, err error) {
	return v, fmt.Errorf("Local: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}

// Flag turns what a record holds, raw, into a value of type Flag. It must tell the same of
// the same bytes always, without I/O. An error makes the record a dead letter.
func (ServiceCodecs) Flag(raw []byte) (v bool, err error) {
	return v, fmt.Errorf("Flag: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}

// Id turns what a record holds, raw, into a value of type Id. It must tell the same of
// the same bytes always, without I/O. An error makes the record a dead letter.
func (ServiceCodecs) Id(raw []byte) (v idem.UUID, err error) {
	return v, fmt.Errorf("Id: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}

// Num turns what a record holds, raw, into a value of type Num. It must tell the same of
// the same bytes always, without I/O. An error makes the record a dead letter.
func (ServiceCodecs) Num(raw []byte) (v int32, err error) {
	return v, fmt.Errorf("Num: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}

// Big turns what a record holds, raw, into a value of type Big. It must tell the same of
// the same bytes always, without I/O. An error makes the record a dead letter.
func (ServiceCodecs) Big(raw []byte) (v int64, err error) {
	return v, fmt.Errorf("Big: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}

// F turns what a record holds, raw, into a value of type F. It must tell the same of
// the same bytes always, without I/O. An error makes the record a dead letter.
func (ServiceCodecs) F(raw []byte) (v float64, err error) {
	return v, fmt.Errorf("F: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}
