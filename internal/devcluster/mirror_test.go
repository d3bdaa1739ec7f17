package devcluster

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestMirrorOfOtherRegistries(t *testing.T) {
	for name, c := range map[string]struct{ method, asked, want string }{
		"an image of another host":              {http.MethodGet, "/v2/org/app/manifests/v1?ns=quay.io", "/v2/quay.io/org/app/manifests/v1"},
		"whether it is there":                   {http.MethodHead, "/v2/org/app/manifests/v1?ns=quay.io", "/v2/quay.io/org/app/manifests/v1"},
		"a host with a port":                    {http.MethodGet, "/v2/app/blobs/sha256:1?ns=localhost:5000", "/v2/localhost:5000/app/blobs/sha256:1"},
		"an image of its own":                   {http.MethodGet, "/v2/org/app/manifests/v1", "/v2/org/app/manifests/v1"},
		"whether there is a registry":           {http.MethodGet, "/v2/?ns=quay.io", "/v2/"},
		"what is pushed goes where it is named": {http.MethodPut, "/v2/org/app/manifests/v1?ns=quay.io", "/v2/org/app/manifests/v1"},
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			mirrorOthers(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.URL.Path })).
				ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(c.method, c.asked, nil))
			must.Equal(t, "path", got, c.want)
		})
	}
}
