package console

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// policy is what pages may load: their own style, script, pictures and streams, and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard refuses what no page of the console asks for, before anything is read.
type guard struct {
	// hosts are the names by which browsers address the console, with the port where it is not that of the scheme. A page of another site whose
	// name leads here (DNS rebinding) has another one.
	hosts []string
	// secure is true where browsers speak TLS with the console, or with what is before it.
	secure bool
}

// wrap puts the guard before a handler, and the headers on every answer.
func (g guard) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		h.Set("Cache-Control", "no-store")
		if g.secure {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if !g.knows(r.Host) {
			http.Error(w, "this console is not called "+strings.ToValidUTF8(r.Host, "?")+": use the address that it was started with", http.StatusMisdirectedRequest)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead && !g.fromHere(r) {
			http.Error(w, "a change has to come from a page of this console", http.StatusForbidden)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		next.ServeHTTP(w, r)
	})
}

// maxForm is how long the body of a request may be, in bytes: the API server takes no object that is larger than 1.5 MiB.
const maxForm = 2 << 20

func (g guard) knows(host string) bool {
	return slices.ContainsFunc(g.hosts, func(known string) bool { return strings.EqualFold(known, host) })
}

// fromHere reports whether a browser says that a page of the console asks. Every browser sends Origin with what is no GET; programs that use the
// API with a token of their own send none, and no cookie.
func (g guard) fromHere(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	origin, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && origin.Scheme == g.scheme() && g.knows(origin.Host) && strings.EqualFold(origin.Host, r.Host)
}

func (g guard) scheme() string {
	if g.secure {
		return "https"
	}
	return "http"
}

// Loopback are the names of a server on this machine that listens at an address.
func Loopback(listening net.Addr) []string {
	_, port, err := net.SplitHostPort(listening.String())
	if err != nil {
		return nil
	}
	return []string{"127.0.0.1:" + port, "localhost:" + port, "[::1]:" + port}
}
