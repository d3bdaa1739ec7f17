package harness

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/test/must"
)

// Requests are those that went out with a configuration, but for watches: each is a method and a path.
type Requests struct {
	mu  sync.Mutex
	all []string
}

// Record makes the requests of a configuration known.
func (r *Requests) Record(config *rest.Config) *rest.Config {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if request.URL.Query().Get("watch") == "" {
				r.mu.Lock()
				r.all = append(r.all, request.Method+" "+request.URL.Path)
				r.mu.Unlock()
			}
			return next.RoundTrip(request)
		})
	})
	return config
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// All are the requests so far.
func (r *Requests) All() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// Writes are those that change something: questions about permissions are asked with POST, too.
func (r *Requests) Writes() []string {
	return slices.DeleteFunc(r.All(), func(request string) bool {
		return strings.HasPrefix(request, http.MethodGet) || strings.Contains(request, " /apis/authorization.k8s.io/")
	})
}

// Rest waits until nothing is asked for a second, and returns all that was. What is asked is among the arguments.
func Rest(t testing.TB, asked func() []string) []string {
	t.Helper()
	for end := time.Now().Add(must.Timeout); time.Now().Before(end); {
		before := asked()
		time.Sleep(time.Second)
		if after := asked(); len(after) == len(before) {
			return after
		}
	}
	t.Fatalf("it goes on and on: %v", asked())
	return nil
}
