package verdict

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// broken is an error with a method that panics.
type broken struct{ method string }

func (b *broken) does(method string) {
	if b.method == method {
		panic("secret")
	}
}

func (b *broken) Error() string   { b.does("Error"); return "broken" }
func (b *broken) Is(error) bool   { b.does("Is"); return false }
func (b *broken) As(any) bool     { b.does("As"); return false }
func (b *broken) Unwrap() error   { b.does("Unwrap"); return nil }
func (b *broken) Timeout() bool   { b.does("Timeout"); return false }
func (b *broken) Temporary() bool { return false }

func TestReadable(t *testing.T) {
	for _, err := range []error{nil, errors.New("plain"), &broken{}, fmt.Errorf("wrapped: %w", &broken{})} {
		if got := Readable(err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
	bad := []error{(*broken)(nil), fmt.Errorf("wrapped: %w", &broken{"Is"}), errors.Join(errors.New("one"), &broken{"Unwrap"})}
	for _, method := range []string{"Error", "Is", "As", "Unwrap", "Timeout"} {
		bad = append(bad, &broken{method})
	}
	for _, err := range bad {
		got := Readable(err)
		if got == nil || !strings.Contains(got.Error(), "cannot be read") || strings.Contains(got.Error(), "secret") {
			t.Errorf("got %v", got)
		}
	}
}
