package notation

// hexAt says where the two digits of each byte are in the text of a UUID.
var hexAt = [16]uint8{0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34}

// UUID reads the 36-character form. The reason is "" if it is one.
func UUID(text []byte) (u [16]byte, reason string) {
	const refused = "must be a UUID of 36 characters"
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return u, refused
	}
	var all byte
	for i, at := range hexAt {
		hi, lo := HexDigit[text[at]], HexDigit[text[at+1]]
		all |= hi | lo
		u[i] = hi<<4 | lo
	}
	if all > 15 {
		return [16]byte{}, refused
	}
	return u, ""
}

// HexDigit is the value of each hexadecimal digit, 255 for any other byte.
var HexDigit = func() (t [256]byte) {
	for c := range t {
		t[c] = 255
	}
	for i := range byte(10) {
		t['0'+i] = i
	}
	for i := range byte(6) {
		t['a'+i], t['A'+i] = 10+i, 10+i
	}
	return t
}()
