package clusterobjectset

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/harness"

	"k8s.io/client-go/rest"
)

// requests are those of the manager, but for watches.
type requests struct {
	mu  sync.Mutex
	all []string
}

var asked = &requests{}

// record makes the requests of a configuration known.
func (r *requests) record(config *rest.Config) *rest.Config {
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

// of are the requests about a name: the last part of what was asked for, by method.
func (r *requests) of(name string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, a := range r.all {
		if strings.Contains(a, "/"+name) {
			out = append(out, strings.Fields(a)[0]+" "+a[strings.LastIndex(a, "/")+1:])
		}
	}
	return out
}

// rest waits until the manager has asked nothing about a name for a second, and returns all that it has asked.
func (w *world) rest(name string) []string {
	w.Helper()
	for end := time.Now().Add(harness.Patience); time.Now().Before(end); {
		before := asked.of(name)
		time.Sleep(time.Second)
		if now := asked.of(name); len(now) == len(before) {
			return now
		}
	}
	w.Fatalf("the manager goes on asking: %v", asked.of(name))
	return nil
}

// TestOneLookAtWhatChanged: of a revision that is complete, a change makes the manager read the object that has changed and the Secret with what it is to
// be, and nothing else; and write nothing where nothing is to be healed.
func TestOneLookAtWhatChanged(t *testing.T) {
	w := newWorld(t)
	w.revise(1, nil, w.configMap("config", "1"), w.configMap("other", "1"), w.web("web:v1"))
	w.reports("NS-1", "Progressing=True/Succeeded", "")
	before := len(w.rest(w.namespace))
	w.edit("v1", "ConfigMap", "config", func(o map[string]any) { o["data"].(map[string]any)["more"] = "theirs" })
	w.eventually("the manager to look", func() error {
		if len(asked.of(w.namespace)) == before {
			return errNotYet
		}
		return nil
	})
	var got []string
	for _, r := range w.rest(w.namespace)[before:] {
		if strings.HasPrefix(r, "GET "+w.namespace+"-1-") {
			r = "GET Secret"
		}
		got = append(got, r)
	}
	slices.Sort(got)
	if got = slices.Compact(got); !slices.Equal(got, []string{"GET Secret", "GET config"}) {
		t.Errorf("the manager asked %v", got)
	}
}
