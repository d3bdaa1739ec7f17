package packageserver

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestIcon(t *testing.T) {
	w := newWorld(t)
	w.offer(t, "olm/global", "a@1.0.0")
	const path = "namespaces/mine/packagemanifests/a/icon"
	tests := map[string]struct {
		header string
		code   int
	}{
		"first":                         {"", http.StatusOK},
		"its own tag":                   {`If-None-Match: "a.stable.a.v1.0.0"`, http.StatusNotModified},
		"among others, a weak one":      {`If-None-Match: "x", W/"a.stable.a.v1.0.0"`, http.StatusNotModified},
		"any":                           {`If-None-Match: *`, http.StatusNotModified},
		"the tag of an earlier version": {`If-None-Match: "a.stable.a.v0.9.0"`, http.StatusOK},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			answer := w.ask(t, path+"?resourceVersion=a.stable.a.v1.0.0", test.header)
			h := answer.Header()
			if answer.Code != test.code || h.Get("Etag") != `"a.stable.a.v1.0.0"` {
				t.Fatalf("%d, want %d: %v", answer.Code, test.code, h)
			}
			if test.code == http.StatusOK && (answer.Body.String() != "<svg>" || h.Get("Content-Type") != "image/svg+xml" || h.Get("Content-Length") != "5") {
				t.Errorf("%v %s", h, answer.Body)
			}
			if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Security-Policy") == "" {
				t.Errorf("a browser may run what a catalog says: %v", h)
			}
		})
	}
	must.Equal(t, "of a package that is not there", w.ask(t, "namespaces/mine/packagemanifests/b/icon").Code, http.StatusNotFound)
}

func TestDefaultIcon(t *testing.T) {
	answer := func(icon *Icon, known string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header.Set("If-None-Match", known)
		w := httptest.NewRecorder()
		iconHandler(icon).ServeHTTP(w, r)
		return w
	}
	none := answer(nil, "*")
	if h := none.Header(); none.Code != http.StatusOK || h.Get("Etag") != "" || h.Get("Content-Type") != "image/svg+xml" || none.Body.String() != string(defaultIcon) {
		t.Errorf("in the place of none: %d %v %s", none.Code, h, none.Body)
	}
	must.Equal(t, "a page is served as", answer(&Icon{MediaType: "text/html"}, "").Header().Get("Content-Type"), "application/octet-stream")
}
