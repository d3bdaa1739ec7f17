package devcluster

import (
	"net/http"
	"strings"
)

// mirrorOthers lets a registry answer for all others. containerd asks it for an image of another host with that in the parameter ns; it is then
// looked for in the repository HOST/NAME, so that equal names of different hosts are different images here too. What is not there containerd
// asks that host for.
func mirrorOthers(registry http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.URL.Query().Get("ns")
		rest, ok := strings.CutPrefix(r.URL.Path, "/v2/")
		if host != "" && ok && rest != "" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			r = r.Clone(r.Context())
			r.URL.Path = "/v2/" + host + "/" + rest
		}
		registry.ServeHTTP(w, r)
	})
}
