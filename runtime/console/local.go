package console

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/user"
	"time"
)

// Site is a console for the users of one machine.
type Site struct {
	URL string // with the token that signs in who opens it
	// Done receives the error with which the server ended, after ctx is done: nil if it was asked
	// to end.
	Done <-chan error
}

// Local serves the pages at an address of this machine, such as 127.0.0.1:0 for any free port,
// until ctx is done. Auth and Hosts of the options must be empty: whoever opens the URL with its
// token is signed in, with these rights; their Name is that of the user of the operating system,
// unless it is set. An address that other machines reach is an error.
func Local(ctx context.Context, address string, rights User, o Options) (*Site, error) {
	if o.Auth != nil || o.Hosts != nil {
		return nil, errors.New("console: Local sets Options.Auth and Options.Hosts itself")
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("console: %q is not HOST:PORT", address)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("console: %s can be reached from other machines: use 127.0.0.1, or console.Handler with Auth in a service", host)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	key := &token{text: rand.Text(), cookie: fmt.Sprintf("idemgen_console_%d", port), user: rights}
	if key.user.Name == "" {
		key.user.Name = "unknown"
		if u, err := user.Current(); err == nil && u.Username != "" {
			key.user.Name = u.Username
		}
	}
	o.Auth = key.auth
	for _, name := range []string{host, "127.0.0.1", "localhost"} {
		o.Hosts = append(o.Hosts, net.JoinHostPort(name, fmt.Sprint(port)))
	}
	pages, err := Handler(ctx, o)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	server := &http.Server{Handler: key.signIn(pages), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	done := make(chan error, 1)
	go func() {
		err := server.Serve(listener)
		if errors.Is(err, http.ErrServerClosed) {
			err = nil
		}
		done <- err
	}()
	context.AfterFunc(ctx, func() { _ = server.Close() })
	return &Site{URL: fmt.Sprintf("http://%s/?token=%s", net.JoinHostPort(host, fmt.Sprint(port)), key.text), Done: done}, nil
}

// A token is the secret of the address: whoever has it is signed in as user.
type token struct {
	text   string
	cookie string // cookies of one host are shared by all of its ports
	user   User
}

func (k *token) is(text string) bool {
	return subtle.ConstantTimeCompare([]byte(text), []byte(k.text)) == 1
}

// signIn turns the token of an address into a cookie, so that it is in no link and no history.
func (k *token) signIn(pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/" || !k.is(r.URL.Query().Get("token")) {
			pages.ServeHTTP(w, r)
			return
		}
		// Browsers send no strict cookie after a link in a file, and idemgen console opens one.
		// With a lax cookie other sites can link to pages. They cannot read them, and send it with
		// no POST.
		http.SetCookie(w, &http.Cookie{Name: k.cookie, Value: k.text, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-store")
		redirect(w, "./")
	})
}

var errNoToken = errors.New("open the printed address, including its token")

func (k *token) auth(r *http.Request) (User, error) {
	for _, c := range r.CookiesNamed(k.cookie) {
		if k.is(c.Value) {
			return k.user, nil
		}
	}
	return User{}, errNoToken
}
