package wire

import "time"

// OptText is Text, or nothing if v is nil.
func (f *Fingerprint) OptText(name string, v *string) {
	if v != nil {
		f.Text(name, *v)
	}
}

// OptUUID is UUID, or nothing if v is nil.
func (f *Fingerprint) OptUUID(name string, v *UUID) {
	if v != nil {
		f.UUID(name, *v)
	}
}

// OptBool is Bool, or nothing if v is nil.
func (f *Fingerprint) OptBool(name string, v *bool) {
	if v != nil {
		f.Bool(name, *v)
	}
}

// OptInt32 is Int32, or nothing if v is nil.
func (f *Fingerprint) OptInt32(name string, v *int32) {
	if v != nil {
		f.Int32(name, *v)
	}
}

// OptInt64 is Int64, or nothing if v is nil.
func (f *Fingerprint) OptInt64(name string, v *int64) {
	if v != nil {
		f.Int64(name, *v)
	}
}

// OptFloat64 is Float64, or nothing if v is nil.
func (f *Fingerprint) OptFloat64(name string, v *float64) {
	if v != nil {
		f.Float64(name, *v)
	}
}

// OptDecimal is Decimal, or nothing if v is nil.
func (f *Fingerprint) OptDecimal(name string, v *Decimal) {
	if v != nil {
		f.Decimal(name, *v)
	}
}

// OptTime is Time, or nothing if v is nil.
func (f *Fingerprint) OptTime(name string, v *time.Time) {
	if v != nil {
		f.Time(name, *v)
	}
}

// OptLocalTime is LocalTime, or nothing if v is nil.
func (f *Fingerprint) OptLocalTime(name string, v *LocalTime) {
	if v != nil {
		f.LocalTime(name, *v)
	}
}

// OptDate is Date, or nothing if v is nil.
func (f *Fingerprint) OptDate(name string, v *Date) {
	if v != nil {
		f.Date(name, *v)
	}
}

// OptBytes is Bytes, or nothing if v is nil.
func (f *Fingerprint) OptBytes(name string, v []byte) {
	if v != nil {
		f.Bytes(name, v)
	}
}

// OptJSON is JSON, or nothing if raw is nil.
func (f *Fingerprint) OptJSON(name string, raw []byte) {
	if raw != nil {
		f.JSON(name, raw)
	}
}
