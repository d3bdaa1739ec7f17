package catalogserver

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// webCatalog has an object of each kind, and one that no package has.
const webCatalog = `
schema: olm.package
name: a
defaultChannel: stable
---
schema: olm.channel
package: a
name: stable
entries: [{name: a.v1.0.0}]
---
schema: olm.bundle
package: a
name: a.v1.0.0
image: quay.io/example/a:v1
properties: [{type: olm.package, value: {packageName: a, version: 1.0.0}}]
---
schema: olm.deprecations
package: a
entries: [{reference: {schema: olm.channel, name: stable}, message: "use <b>"}]
---
schema: example.com.custom
name: a
`

// The lines of webCatalog.
const (
	linePackage      = `{"schema":"olm.package","name":"a","defaultChannel":"stable"}` + "\n"
	lineChannel      = `{"schema":"olm.channel","name":"stable","package":"a","entries":[{"name":"a.v1.0.0"}]}` + "\n"
	lineBundle       = `{"schema":"olm.bundle","name":"a.v1.0.0","package":"a","image":"quay.io/example/a:v1","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}}]}` + "\n"
	lineDeprecations = `{"schema":"olm.deprecations","package":"a","entries":[{"reference":{"schema":"olm.channel","name":"stable"},"message":"use <b>"}]}` + "\n"
	lineCustom       = `{"name":"a","schema":"example.com.custom"}` + "\n"
	lineAll          = linePackage + lineChannel + lineBundle + lineDeprecations + lineCustom
)

// request is one over HTTP.
type request struct {
	method, path string
	header       map[string]string
}

// do sends a request and reads the answer; nothing is added to it or unpacked on the way.
func do(t testing.TB, url string, r request) (*http.Response, string) {
	t.Helper()
	method := r.method
	if method == "" {
		method = http.MethodGet
	}
	message := must.Value(http.NewRequestWithContext(soon(t), method, url+r.path, nil))(t)
	for key, value := range r.header {
		message.Header.Set(key, value)
	}
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	answer := must.Value(transport.RoundTrip(message))(t)
	defer answer.Body.Close()
	body := must.Value(io.ReadAll(answer.Body))(t)
	return answer, string(body)
}

func TestHTTP(t *testing.T) {
	single := serve(t, map[string]*catalog.Index{"web": yamlIndex(t, webCatalog)}).url
	several := serve(t, map[string]*catalog.Index{"web": yamlIndex(t, webCatalog), "other.example": onePackage(t, "other")}).url
	starting := serve(t, nil)
	starting.health.Set(false)
	tests := map[string]struct {
		url  string
		path string
		code int
		want string // the body; of an error a part of it
	}{
		"all":                            {single, "/catalogs/web/api/v1/all", 200, lineAll},
		"the only catalog needs no name": {single, "/api/v1/all", 200, lineAll},
		"all parameters are optional":    {single, "/api/v1/metas", 200, lineAll},
		"a schema":                       {single, "/api/v1/metas?schema=olm.channel", 200, lineChannel},
		"a package, without the olm.package itself":      {single, "/catalogs/web/api/v1/metas?package=a", 200, lineChannel + lineBundle + lineDeprecations},
		"a name, of any schema":                          {single, "/api/v1/metas?name=a", 200, linePackage + lineCustom},
		"all three":                                      {single, "/api/v1/metas?schema=olm.bundle&package=a&name=a.v1.0.0", 200, lineBundle},
		"the object of a package":                        {single, "/api/v1/metas?schema=olm.package&name=a", 200, linePackage},
		"nothing fits":                                   {single, "/api/v1/metas?schema=olm.bundle&package=b", 200, ""},
		"an empty parameter is none":                     {single, "/api/v1/metas?schema=&package=&name=", 200, lineAll},
		"of repeated parameters the first counts":        {single, "/api/v1/metas?schema=olm.channel&schema=olm.bundle", 200, lineChannel},
		"names are compared as they are":                 {single, "/api/v1/metas?schema=olm.channe%6C", 200, lineChannel},
		"an unknown parameter":                           {single, "/api/v1/metas?schema=olm.bundle&kind=x&b=", 400, `unknown parameters "b", "kind"`},
		"a query that cannot be read":                    {single, "/api/v1/metas?schema=%zz", 400, "cannot be read"},
		"a semicolon separates nothing":                  {single, "/api/v1/metas?schema=a;package=b", 400, "cannot be read"},
		"a catalog that is not here":                     {single, "/catalogs/elsewhere/api/v1/all", 404, "no such catalog"},
		"a name that cannot be one":                      {single, "/catalogs/Web_1/api/v1/all", 400, "the name of a catalog"},
		"a name that is too long":                        {single, "/catalogs/" + strings.Repeat("a", 254) + "/api/v1/metas", 400, "the name of a catalog"},
		"a name that would lead elsewhere":               {single, "/catalogs/..%2Fetc/api/v1/all", 400, "the name of a catalog"},
		"a page that is not here":                        {single, "/catalogs/web/api/v1/graphql", 404, "not found"},
		"one of several":                                 {several, "/catalogs/web/api/v1/metas?schema=olm.package", 200, linePackage},
		"one of several with dots":                       {several, "/catalogs/other.example/api/v1/metas?schema=olm.package", 200, `{"schema":"olm.package","name":"other","defaultChannel":"stable"}` + "\n"},
		"several need a name":                            {several, "/api/v1/all", 404, "name one"},
		"before the server is ready nothing is missing":  {starting.url, "/catalogs/web/api/v1/all", 503, "try again"},
		"before the server is ready the only one is not": {starting.url, "/api/v1/metas", 503, "try again"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			answer, body := do(t, test.url, request{path: test.path})
			if answer.StatusCode != test.code {
				t.Fatalf("status %s, want %d; %s", answer.Status, test.code, body)
			}
			if test.code != 200 {
				if !strings.Contains(body, test.want) || answer.Header.Get("ETag") != "" {
					t.Errorf("%q, ETag %q: want %q and no ETag", body, answer.Header.Get("ETag"), test.want)
				}
				return
			}
			must.Equal(t, "body", body, test.want)
			checkHeaders(t, answer)
		})
	}
}

// checkHeaders looks at what every content has to say about itself.
func checkHeaders(t *testing.T, answer *http.Response) {
	t.Helper()
	for key, want := range map[string]string{
		"Content-Type": "application/jsonl", "Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT", "Vary": "Accept-Encoding", "X-Content-Type-Options": "nosniff",
	} {
		must.Equal(t, key, answer.Header.Get(key), want)
	}
	if tag := answer.Header.Get("ETag"); len(tag) != 34 || tag[0] != '"' {
		t.Errorf("ETag %q is not a strong one", tag)
	}
}

func TestHTTPMethods(t *testing.T) {
	url := serve(t, map[string]*catalog.Index{"web": yamlIndex(t, webCatalog)}).url
	for _, path := range []string{"/api/v1/all", "/catalogs/web/api/v1/all", "/api/v1/metas", "/catalogs/web/api/v1/metas?schema=olm.bundle"} {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
			answer, _ := do(t, url, request{method: method, path: path})
			if answer.StatusCode != 405 || answer.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %s, Allow %q", method, path, answer.Status, answer.Header.Get("Allow"))
			}
		}
		for _, coding := range []string{"", "gzip"} {
			r := request{path: path, header: map[string]string{"Accept-Encoding": coding}}
			get, _ := do(t, url, r)
			r.method = http.MethodHead
			head, body := do(t, url, r)
			if head.StatusCode != 200 || body != "" {
				t.Errorf("HEAD %s: %s %q", path, head.Status, body)
			}
			for _, key := range []string{"ETag", "Last-Modified", "Content-Type", "Content-Encoding", "Vary", "Accept-Ranges"} {
				if get.Header.Get(key) != head.Header.Get(key) {
					t.Errorf("HEAD %s, coding %q: %s is %q, for GET %q", path, coding, key, head.Header.Get(key), get.Header.Get(key))
				}
			}
		}
	}
}

func TestHTTPCoding(t *testing.T) {
	url := serve(t, map[string]*catalog.Index{"web": yamlIndex(t, webCatalog)}).url
	for accept, zipped := range map[string]bool{
		"":                          false,
		"gzip":                      true,
		"deflate, GZIP ; q=0.5, br": true,
		"x-gzip":                    true,
		"*":                         true,
		"*;q=0":                     false,
		"gzip;q=0":                  false,
		"gzip;q=0, *":               false,
		"*, gzip;q=0.000":           false,
		"gzip;q=what":               false,
		"identity":                  false,
		"gzipped":                   false,
	} {
		for path, want := range map[string]string{"/api/v1/all": lineAll, "/api/v1/metas?schema=olm.bundle": lineBundle, "/api/v1/metas?name=none": ""} {
			answer, body := do(t, url, request{path: path, header: map[string]string{"Accept-Encoding": accept}})
			if got := answer.Header.Get("Content-Encoding"); got == "gzip" != zipped {
				t.Errorf("Accept-Encoding %q for %s: coding %q", accept, path, got)
				continue
			}
			checkHeaders(t, answer)
			if zipped {
				r := must.Value(gzip.NewReader(strings.NewReader(body)))(t)
				content := must.Value(io.ReadAll(r))(t)
				body = string(content)
			}
			if body != want {
				t.Errorf("Accept-Encoding %q for %s: body %q, want %q", accept, path, body, want)
			}
		}
	}
}

func TestETagsDifferAndStay(t *testing.T) {
	a, b := yamlIndex(t, webCatalog), onePackage(t, "b")
	seen := map[string]string{}
	var again []string
	for round := range 2 {
		for name, x := range map[string]*catalog.Index{"a": a, "b": b} {
			url := serve(t, map[string]*catalog.Index{"c": x}).url
			for _, path := range []string{"/api/v1/all", "/api/v1/metas?schema=x", "/api/v1/metas?package=x", "/api/v1/metas?name=x"} {
				for _, coding := range []string{"identity", "gzip"} {
					answer, _ := do(t, url, request{path: path, header: map[string]string{"Accept-Encoding": coding}})
					what, tag := name+path+coding, answer.Header.Get("ETag")
					if round == 0 {
						if other, ok := seen[tag]; ok {
							t.Errorf("%s and %s have the same ETag", what, other)
						}
						seen[tag] = what
					} else if again = append(again, tag); seen[tag] != what {
						t.Errorf("%s has another ETag after a restart", what)
					}
				}
			}
		}
	}
	if slices.Sort(again); len(slices.Compact(again)) != len(seen) || len(seen) != 16 {
		t.Errorf("%d different ETags, then %d", len(seen), len(again))
	}
}

func TestObjectsThatCannotBeReadBreakTheAnswerOff(t *testing.T) {
	x := yamlIndex(t, webCatalog)
	url := serve(t, map[string]*catalog.Index{"web": x}).url
	must.NoError(t, x.Close())
	for _, path := range []string{"/api/v1/all", "/api/v1/metas?package=a"} {
		for _, coding := range []string{"identity", "gzip"} {
			message := must.Value(http.NewRequestWithContext(soon(t), http.MethodGet, url+path, nil))(t)
			message.Header.Set("Accept-Encoding", coding)
			answer, err := http.DefaultTransport.RoundTrip(message)
			if err != nil {
				continue // broken off before the first byte
			}
			body, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			if err == nil {
				t.Errorf("%s, %s: the answer %q seems complete", path, coding, bytes.TrimSpace(body))
			}
		}
	}
}
