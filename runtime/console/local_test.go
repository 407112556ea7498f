package console_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/console"
)

// Local serves whoever has the token, and nobody else: not without it, not under another host
// name, and never at an address that other machines can reach.
func TestOnlyTheTokenSignsIn(t *testing.T) {
	db := database(t)
	o := console.Options{Database: db.Config().ConnString(), Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "[::]:0", "example.com:0", "127.0.0.1"} {
		if site, err := console.Local(t.Context(), address, console.User{}, o); err == nil {
			t.Errorf("served at %s: %s", address, site.URL)
		}
	}
	site, err := console.Local(t.Context(), "127.0.0.1:0", console.User{}, o)
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(site.URL)
	if err != nil {
		t.Fatal(err)
	}
	get := func(c *http.Client, address, host string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			r.Host = host
		}
		answer, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		return answer.StatusCode, body(t, answer)
	}
	plain := "http://" + at.Host + "/"
	for _, address := range []string{plain, plain + "?token=", plain + "?token=x", plain + "dead", plain + "console.css"} {
		if status, text := get(http.DefaultClient, address, ""); status != http.StatusForbidden {
			t.Errorf("%s: %d %s", address, status, text)
		}
	}
	signIn, err := http.NewRequestWithContext(t.Context(), http.MethodGet, site.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	first, err := http.DefaultTransport.RoundTrip(signIn) // which follows no redirection
	if err != nil {
		t.Fatal(err)
	}
	defer first.Body.Close()
	cookies := first.Cookies()
	if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteLaxMode || cookies[0].Path != "/" ||
		first.Header.Get("Referrer-Policy") != "no-referrer" || first.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("the token becomes %v with %v", cookies, first.Header)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	if status, text := get(browser, site.URL, ""); status != http.StatusOK || !strings.Contains(text, "No process reports itself") || strings.Contains(text, at.Query().Get("token")) {
		t.Errorf("with the token: %d %s", status, text)
	}
	if status, _ := get(browser, plain+"dead", ""); status != http.StatusOK {
		t.Errorf("with the cookie: %d", status)
	}
	if status, _ := get(browser, plain+"dead", "attacker.example:"+at.Port()); status == http.StatusOK {
		t.Error("another name of the host was accepted")
	}
}

// The token is taken by the first page alone, and the site ends with its context. Who is signed in
// is the caller's matter only for Handler.
func TestTheTokenIsTakenByTheFirstPage(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := console.Options{Database: "postgres://127.0.0.1:1/none", Logger: slog.New(slog.DiscardHandler)}
	site, err := console.Local(ctx, "localhost:0", console.User{Name: "ann"}, o)
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(site.URL)
	if err != nil || at.Hostname() != "localhost" {
		t.Fatal(site.URL, err)
	}
	for _, c := range []struct {
		method, path string
		want         int
	}{{http.MethodGet, "/", http.StatusSeeOther}, {http.MethodPost, "/", http.StatusForbidden}, {http.MethodGet, "/dead", http.StatusForbidden}} {
		r, err := http.NewRequestWithContext(ctx, c.method, "http://"+at.Host+c.path+"?token="+at.Query().Get("token"), nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		text := body(t, answer)
		answer.Body.Close()
		if answer.StatusCode != c.want || (len(answer.Cookies()) == 1) != (c.want == http.StatusSeeOther) {
			t.Errorf("%s %s: %d, %v %s", c.method, c.path, answer.StatusCode, answer.Cookies(), text)
		}
	}
	cancel()
	if err := <-site.Done; err != nil {
		t.Errorf("it ended with %v", err)
	}
	for want, change := range map[string]func(*console.Options){
		"sets Options.Auth": func(o *console.Options) { o.Auth = func(*http.Request) (console.User, error) { return everyone, nil } }, "and Options.Hosts": func(o *console.Options) { o.Hosts = []string{"a"} },
		"Options.Database is empty": func(o *console.Options) { o.Database = "" },
	} {
		wrong := o
		change(&wrong)
		if _, err := console.Local(t.Context(), "127.0.0.1:0", console.User{}, wrong); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
