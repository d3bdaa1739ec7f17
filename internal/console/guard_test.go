package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestGuard: what no page of the console asks for is refused before anything is read, and every answer has the headers.
func TestGuard(t *testing.T) {
	const here = "127.0.0.1:8090"
	for name, test := range map[string]struct {
		method, host string
		headers      map[string]string
		want         int
	}{
		"a page":                            {"GET", here, nil, 200},
		"a page, by another name of here":   {"GET", "localhost:8090", nil, 200},
		"another host":                      {"GET", "evil.example.com", nil, 421},
		"another host's name for here":      {"GET", "rebound.example.com:8090", nil, 421},
		"another port":                      {"GET", "127.0.0.1:8091", nil, 421},
		"no host":                           {"GET", "", nil, 421},
		"a write of a page":                 {"POST", here, map[string]string{"Origin": "http://" + here, "Sec-Fetch-Site": "same-origin"}, 200},
		"a write of an older browser":       {"POST", here, map[string]string{"Origin": "http://" + here}, 200},
		"a write of another site":           {"POST", here, map[string]string{"Origin": "https://evil.example.com", "Sec-Fetch-Site": "cross-site"}, 403},
		"a write of another port":           {"POST", here, map[string]string{"Origin": "http://127.0.0.1:9999", "Sec-Fetch-Site": "same-site"}, 403},
		"a write of another name of here":   {"POST", here, map[string]string{"Origin": "http://localhost:8090"}, 403},
		"a write without origin":            {"POST", here, nil, 403},
		"a write of a sandboxed page":       {"POST", here, map[string]string{"Origin": "null"}, 403},
		"a write by TLS for plain HTTP":     {"POST", here, map[string]string{"Origin": "https://" + here}, 403},
		"a deletion of another site":        {"DELETE", here, map[string]string{"Origin": "https://evil.example.com"}, 403},
		"a method that no one knows":        {"FROB", here, nil, 403},
		"a write that says it is from here": {"POST", here, map[string]string{"Origin": "http://" + here, "Sec-Fetch-Site": "cross-site"}, 403},
	} {
		t.Run(name, func(t *testing.T) {
			reached := false
			handler := guard{hosts: []string{here, "localhost:8090"}}.wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
			r := httptest.NewRequest(test.method, "/catalog", strings.NewReader("x=1"))
			r.Host = test.host
			for key, value := range test.headers {
				r.Header.Set(key, value)
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			must.Equal(t, "status", w.Code, test.want)
			must.Equal(t, "reached", reached, test.want == 200)
			must.Contain(t, "policy", w.Header().Get("Content-Security-Policy"), "default-src 'none'", "frame-ancestors 'none'")
			if strings.Contains(w.Header().Get("Content-Security-Policy"), "unsafe") {
				t.Error("the policy lets something unsafe through")
			}
			must.Equal(t, "kept by no one", w.Header().Get("Cache-Control"), "no-store")
		})
	}
}

// TestLongForms: a body that is too long is not read.
func TestLongForms(t *testing.T) {
	var failed error
	handler := guard{hosts: []string{"h"}}.wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { failed = r.ParseForm() }))
	r := httptest.NewRequest("POST", "/", strings.NewReader("x="+strings.Repeat("y", maxForm)))
	r.Host = "h"
	r.Header.Set("Origin", "http://h")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	handler.ServeHTTP(httptest.NewRecorder(), r)
	must.Fail(t, "the form", failed, "too large")
}
