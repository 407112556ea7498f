package effect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// Only the service's word and a connection that was never opened say that a call did nothing.
func TestAnErrorThatNobodyClassifiedLeavesOpenWhatTheCallDid(t *testing.T) {
	plain := errors.New("refused")
	over, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	<-over.Done()
	reading := func(err error) error { return &net.OpError{Op: "read", Net: "tcp", Err: err} }
	for _, err := range []error{
		plain, over.Err(), fmt.Errorf("rpc error: code = DeadlineExceeded"), io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed,
		errors.New("stream error: stream ID 3; INTERNAL_ERROR"), verdict.Interrupted(verdict.Permanent(plain)),
		reading(syscall.ECONNABORTED), reading(syscall.ENETRESET), reading(syscall.ENOTCONN), reading(syscall.EHOSTUNREACH), syscall.EPIPE,
	} {
		if !unknown(err) {
			t.Errorf("%v: says that nothing was done", err)
		}
	}
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	_, refused := http.Get(closed.URL)
	_, unresolved := net.Dial("tcp", "nowhere.invalid:1")
	for _, err := range []error{
		refused, unresolved, verdict.NotDone(plain), verdict.NotDone(over.Err()), verdict.Permanent(plain),
		verdict.RetryAfter(time.Second, io.EOF), fmt.Errorf("wrapped: %w", verdict.NotDone(io.EOF)), verdict.ErrNotImplemented,
	} {
		if unknown(err) {
			t.Errorf("%v: leaves open what was done", err)
		}
	}
}
