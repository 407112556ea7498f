package httpcall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// meaning is what the runtime makes of an error, in words.
func meaning(err error) string {
	if err == nil {
		return "done"
	}
	var words []string
	if verdict.IsUnavailable(err) {
		words = append(words, "unavailable")
	}
	if unknown, said := verdict.SaidUnknown(err); unknown {
		words = append(words, "unknown")
	} else if said {
		words = append(words, "not done")
	}
	if verdict.SaidPermanent(err) {
		words = append(words, "permanent")
	}
	if after, asked := verdict.Pause(err); asked {
		words = append(words, after.Round(time.Minute).String())
	}
	return strings.Join(words, " ")
}

func post(t *testing.T, client *http.Client, address string) (*Answer, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/charges/17?token=secret", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Idempotency-Key", "k")
	return Do(client, r)
}

// The table of docs/effects.md.
func TestMeaningOfAnswers(t *testing.T) {
	for _, c := range []struct {
		status int
		after  string
		want   string
	}{
		{200, "", "done"}, {204, "", "done"},
		{400, "", "permanent"}, {404, "", "permanent"}, {410, "", "permanent"}, {413, "", "permanent"}, {422, "", "permanent"},
		{401, "", "unavailable"}, {403, "", "unavailable"}, {407, "", "unavailable"}, {408, "", "unavailable"}, {425, "", "unavailable"},
		{409, "", "unknown"},
		{429, "", "unavailable"}, {429, "120", "unavailable 2m0s"}, {429, "86400", "unavailable 1h0m0s"}, {429, "-1", "unavailable"}, {429, "soon", "unavailable"},
		{429, time.Now().Add(5 * time.Minute).UTC().Format(http.TimeFormat), "unavailable 5m0s"},
		{503, "60", "unavailable unknown 1m0s"}, {502, "", "unavailable unknown"}, {503, "", "unavailable unknown"}, {504, "", "unavailable unknown"},
		{500, "", "unknown"}, {501, "", "unknown"}, {304, "", "unknown"}, {307, "", "unknown"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", c.after)
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(c.status)
			if c.status != 204 && c.status != 304 {
				fmt.Fprint(w, "private")
			}
		}))
		a, err := post(t, server.Client(), server.URL)
		if got := meaning(err); got != c.want {
			t.Errorf("%d %s: %s, want %s", c.status, c.after, got, c.want)
		}
		if err == nil {
			if a.Status != c.status {
				t.Errorf("%d: got %+v", c.status, a)
			}
			server.Close()
			continue
		}
		e, ok := errors.AsType[*StatusError](err)
		if !ok || e.Answer.Status != c.status || c.status != 304 && string(e.Answer.Body) != "private" {
			t.Errorf("%d: got %+v", c.status, e)
		}
		for _, secret := range []string{"secret", "private", "/charges"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%d: %v", c.status, err)
			}
		}
		server.Close()
	}
}

func TestMeaningOfCallsWithoutAnAnswer(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	defer untrusted.Close()
	answer := func(handle http.HandlerFunc) string {
		s := httptest.NewServer(handle)
		t.Cleanup(s.Close)
		return s.URL
	}
	hijack := func(w http.ResponseWriter, text string) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, text)
		_ = conn.Close()
	}
	for name, c := range map[string]struct{ address, want string }{
		"refused":     {closed.URL, "unavailable"},
		"no host":     {"http://nowhere.invalid", "unavailable"},
		"not trusted": {untrusted.URL, "unavailable"},
		"no address":  {"", "not done"},
		"no scheme":   {"nowhere.invalid", "not done"},
		"other":       {"ftp://nowhere.invalid", "not done"},
		"hostless":    {"https://", "not done"},
		"cut off":     {answer(func(w http.ResponseWriter, _ *http.Request) { hijack(w, "") }), "unknown"},
		"body cut off": {answer(func(w http.ResponseWriter, _ *http.Request) {
			hijack(w, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{")
		}), "unknown"},
		"too long": {answer(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, MaxBody+1)) }), "unknown"},
		"too late": {answer(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}), "unknown"},
	} {
		var client *http.Client // the default one
		if name == "too late" {
			client = &http.Client{Timeout: 100 * time.Millisecond}
		}
		_, err := post(t, client, c.address)
		if got := meaning(err); got != c.want {
			t.Errorf("%s: %s, want %s: %v", name, got, c.want, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The answer to a request is that of where it was sent, and the caller's client stays as it is.
func TestARedirectIsNotFollowed(t *testing.T) {
	down := httptest.NewServer(http.NotFoundHandler())
	down.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, location := range []string{"/login", "/gone", down.URL} {
			var calls atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				switch r.URL.Path {
				case "/login":
				case "/gone":
					w.WriteHeader(http.StatusNotFound)
				default:
					w.Header().Set("Location", location)
					w.WriteHeader(status)
				}
			}))
			client := server.Client()
			client.CheckRedirect = func(*http.Request, []*http.Request) error { return nil }
			_, err := post(t, client, server.URL)
			if e, ok := errors.AsType[*StatusError](err); meaning(err) != "unknown" || !ok || e.Answer.Status != status || calls.Load() != 1 {
				t.Errorf("%d to %s: %s after %d calls: %v", status, location, meaning(err), calls.Load(), err)
			}
			if err := client.CheckRedirect(nil, nil); err != nil {
				t.Errorf("the caller's client does not follow redirects any more: %v", err)
			}
			server.Close()
		}
	}
}

// Through a proxy that is down, or does not get through, the other side heard nothing.
func TestAProxyThatIsDown(t *testing.T) {
	down := httptest.NewServer(http.NotFoundHandler())
	down.Close()
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	go func() {
		for {
			conn, err := mute.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	address := strings.TrimPrefix(down.URL, "http://")
	for _, proxy := range []string{"http://" + address, "https://" + address, "socks5://" + address, "socks5://" + mute.Addr().String()} {
		through, err := url.Parse(proxy)
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(through)}, Timeout: 10 * time.Second}
		for _, to := range []string{"http://nowhere.invalid", "https://nowhere.invalid"} {
			if _, err := post(t, client, to); meaning(err) != "unavailable" {
				t.Errorf("%s through %s: %s: %v", to, proxy, meaning(err), err)
			}
		}
	}
}

// A connection that breaks before its first answer has http.Transport send a request again that
// has an Idempotency-Key. Do does not let it.
func TestARequestIsSentOnce(t *testing.T) {
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if calls.Add(1) == 1 {
			return // and the connection is kept for the next call
		}
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = conn.Close()
	}))
	defer server.Close()
	if _, err := post(t, server.Client(), server.URL); err != nil {
		t.Fatal(err)
	}
	if _, err := post(t, server.Client(), server.URL); meaning(err) != "unknown" {
		t.Errorf("got %v", err)
	}
	if n := calls.Load(); n != 2 {
		t.Errorf("%d calls, want 2", n)
	}
}

// The end of a call's context is an end without an answer.
func TestContextEnds(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Do(server.Client(), r); meaning(err) != "unknown" || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A response that is too long says what it was: the call was made.
func TestResponseThatIsTooLong(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "/charges/1")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(make([]byte, MaxBody+1))
	}))
	defer server.Close()
	_, err := post(t, server.Client(), server.URL)
	e, ok := errors.AsType[*StatusError](err)
	if meaning(err) != "unknown" || !ok || e.Answer.Status != http.StatusCreated || e.Answer.Header.Get("Location") == "" {
		t.Errorf("%v", err)
	}
}
