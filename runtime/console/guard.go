package console

import (
	"context"
	"errors"
	"net/http"
	"path"
	"strings"
)

// policy permits what the pages consist of, and nothing else: no script or style in a page, no
// request to another host, no frame around the page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guarded returns the handler with all checks around it, in the order in which they must be made:
// the host, before anything else is done; the origin of what changes something; the user; the
// user's rights, by the page.
func (c *console) guarded() http.Handler {
	origin := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers send no usable Origin
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("X-Frame-Options", "DENY")
		if !c.hosts[strings.ToLower(r.Host)] {
			http.Error(w, "this host name is not in console.Options.Hosts", http.StatusMisdirectedRequest)
			return
		}
		if err := origin.Check(r); err != nil {
			http.Error(w, "the request comes from another site", http.StatusForbidden)
			return
		}
		user, err := c.auth(r)
		if err != nil || user.Name == "" {
			if err != nil {
				c.log.DebugContext(r.Context(), "a request without a user was rejected", "err", err)
			}
			http.Error(w, "you are not signed in", http.StatusForbidden)
			return
		}
		c.route(w, r, user)
	})
}

// errRight means that a user lacks the right to a page.
var errRight = errors.New("you do not have the right to do this")

// route serves the page that the last part of the path names.
func (c *console) route(w http.ResponseWriter, r *http.Request, user User) {
	name := ""
	if !strings.HasSuffix(r.URL.Path, "/") {
		name = path.Base(r.URL.Path)
	}
	if asset := assets[name]; asset != nil {
		asset.serve(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	page := c.pages.named(name, r.Method)
	switch {
	case page == nil && c.pages.named(name, http.MethodGet) != nil:
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "this page does not accept "+r.Method, http.StatusMethodNotAllowed)
		return
	case page == nil:
		http.NotFound(w, r)
		return
	case page.needs == acts && (!user.Act || c.write == nil), page.needs == payloads && !user.Payload:
		http.Error(w, errRight.Error(), http.StatusForbidden)
		return
	}
	c.recent.view()
	ctx, cancel := context.WithTimeout(r.Context(), requestTime)
	defer cancel()
	r = r.WithContext(ctx)
	r.Body = http.MaxBytesReader(w, r.Body, 2<<20)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "the form cannot be read", http.StatusBadRequest)
		return
	}
	page.serve(c, &request{w, r, user, r.Form})
}
