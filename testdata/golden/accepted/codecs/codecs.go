package vault

import (
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	idem "github.com/idemgen/idemgen/runtime"
)

// ServiceCodecs implements Codecs. What it reads is no secret: this is a test.
type ServiceCodecs struct{}

// Secret reads "nonce.base32".
func (ServiceCodecs) Secret(raw []byte) (string, error) {
	_, sealed, ok := strings.Cut(string(raw), ".")
	if !ok {
		return "", fmt.Errorf("%q has no nonce", raw)
	}
	text, err := base32.StdEncoding.DecodeString(sealed)
	return string(text), err
}

// Amount reads {"units": 12, "nanos": 500000000}.
func (ServiceCodecs) Amount(raw []byte) (idem.Decimal, error) {
	var money struct{ Units, Nanos int64 }
	if err := json.Unmarshal(raw, &money); err != nil {
		return idem.Decimal{}, err
	}
	if money.Nanos < 0 {
		panic(fmt.Sprintf("%d nanos", money.Nanos))
	}
	var d idem.Decimal
	err := d.UnmarshalText(fmt.Appendf(nil, "%d.%09d", money.Units, money.Nanos))
	return d, err
}

// Moment reads [seconds, nanoseconds], in whatever year.
func (ServiceCodecs) Moment(raw []byte) (time.Time, error) {
	var pair []int64
	if err := json.Unmarshal(raw, &pair); err != nil || len(pair) != 2 {
		return time.Time{}, errors.New("no pair")
	}
	return time.Unix(pair[0], pair[1]), nil
}

// Blob reads hexadecimal digits, and overwrites what it gets. Of none it makes nil.
func (ServiceCodecs) Blob(raw []byte) ([]byte, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	n, err := hex.Decode(raw, raw)
	return raw[:n], err
}

// Note reads a Secret that is JSON.
func (c ServiceCodecs) Note(raw []byte) (json.RawMessage, error) {
	text, err := c.Secret(raw)
	return json.RawMessage(text), err
}
