// Package httpcall makes the HTTP calls of effects. It classifies each outcome of a call by what
// it means for the event (docs/effects.md). It must not import any package of this module but
// package idem and verdict.
package httpcall

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

const (
	// MaxBody is how many bytes of a response body are read.
	MaxBody = 1 << 20
	// MaxPause is the longest pause that a Retry-After header can request.
	MaxPause = time.Hour
)

// Answer is a response whose body was read completely, or, in a [StatusError], perhaps in part.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// StatusError is a response that does not report success, or one that does, but whose body could
// not be read. The errors that wrap it say what it
// means for the event. A caller that knows the provider better can drop them by returning an
// error of its own.
type StatusError struct {
	Method, Host string
	Answer       Answer
}

// Error leaves out the path, the query and the body, which may contain sensitive data.
func (e *StatusError) Error() string {
	return fmt.Sprintf("%s %s: status %d %s", e.Method, e.Host, e.Answer.Status, http.StatusText(e.Answer.Status))
}

// Response returns the body. A dead letter keeps its beginning, for those with the right to see
// payloads.
func (e *StatusError) Response() []byte { return e.Answer.Body }

// Do sends a request and returns the response if its status is 2xx. Every other outcome is an
// error that an effect can return unchanged: [idem.Unavailable], [idem.Interrupted] or
// [idem.Permanent], which wraps a [StatusError] if there was a response; or [idem.NotDone] for a
// URL that is not an HTTP address, to which nothing is sent. If client is nil, Do uses
// [http.DefaultClient]. A 2xx response whose body cannot be read or is longer than
// [MaxBody], and a redirect, are Interrupted.
//
// A request with a body is sent only once: the client does not resend it on another connection,
// which it would otherwise do if the request has an Idempotency-Key header. Redirects are never
// followed: a redirect is the response, whatever the client's CheckRedirect says.
func Do(client *http.Client, request *http.Request) (*Answer, error) {
	if why := unfit(request.URL); why != "" {
		return nil, idem.NotDone(fmt.Errorf("%s %s: the address %s", request.Method, request.URL.Host, why))
	}
	here := *cmp.Or(client, http.DefaultClient)
	here.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if request.GetBody != nil {
		request = request.Clone(request.Context())
		request.GetBody = nil
	}
	response, err := here.Do(request)
	if err != nil {
		return nil, unanswered(request, err)
	}
	defer response.Body.Close()
	a := Answer{Status: response.StatusCode, Header: response.Header}
	if a.Body, err = io.ReadAll(io.LimitReader(response.Body, MaxBody+1)); err == nil && len(a.Body) > MaxBody {
		a.Body, err = a.Body[:MaxBody], fmt.Errorf("the body is longer than %d bytes", MaxBody)
	}
	switch {
	case a.Status/100 != 2:
		return nil, classified(&StatusError{request.Method, request.URL.Host, a})
	case err != nil: // it was done, but its result is unknown
		return nil, idem.Interrupted(fmt.Errorf("%w: read the response: %w", &StatusError{request.Method, request.URL.Host, a}, err))
	}
	return &a, nil
}

// unfit says why nothing can be sent to a URL; "" if it can.
func unfit(to *url.URL) string {
	switch {
	case to.Scheme != "http" && to.Scheme != "https":
		return "begins with neither http:// nor https://"
	case to.Host == "":
		return "has no host"
	}
	return ""
}

// unanswered classifies the error of a call without a response.
func unanswered(request *http.Request, err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // without the address, whose query may hold secrets
	}
	err = fmt.Errorf("%s %s: %w", request.Method, request.URL.Host, err)
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted || verdict.NeverConnected(err) {
		return idem.Unavailable(err)
	}
	return idem.Interrupted(err)
}

// classified says what a response means for the event.
func classified(e *StatusError) error {
	switch status := e.Answer.Status; status {
	case http.StatusTooManyRequests, http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired,
		http.StatusRequestTimeout, http.StatusTooEarly:
		return idem.Unavailable(e.later(e)) // it did nothing, and this event is not to blame
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return idem.Unavailable(e.later(idem.Interrupted(e))) // a proxy may not know what the server behind it did
	case http.StatusConflict:
		return idem.Interrupted(e) // done before, or in progress
	default:
		if status/100 == 4 {
			return idem.Permanent(e)
		}
		return idem.Interrupted(e)
	}
}

// later is err, to be retried when the response says.
func (e *StatusError) later(err error) error {
	text := e.Answer.Header.Get("Retry-After")
	var pause time.Duration
	if seconds, wrong := strconv.Atoi(text); wrong == nil {
		pause = time.Duration(min(max(seconds, 0), int(MaxPause/time.Second))) * time.Second
	} else if at, wrong := http.ParseTime(text); wrong == nil {
		pause = min(time.Until(at), MaxPause)
	}
	if pause <= 0 {
		return err
	}
	return idem.RetryAfter(pause, err)
}
