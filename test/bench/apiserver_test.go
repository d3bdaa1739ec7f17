package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// apiServer answers like the API server that a snapshot was taken of, had it many tenants: what is in the namespace of the one that was
// recorded is there in the namespace of each. It is a stand-in that measures the manager, and says nothing of Kubernetes: it holds no
// tenant in memory, checks nothing and keeps nothing that is written, but counts it.
type apiServer struct {
	*snapshot
	tenants int
	// streams tells whether a watch may begin with all objects. Servers of Kubernetes before 1.34 refuse that, and are asked for lists.
	streams bool

	mu     sync.Mutex
	writes map[string]int // by method and path
	busy   int            // requests that are being answered; a watch is, until it has sent what there is
	last   time.Time      // when a request last ended
	sent   int64          // bytes of objects
}

// ServeHTTP answers one request.
func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.count(1, 0)
	var once sync.Once
	done := func() { once.Do(func() { s.count(-1, 0) }) }
	defer done()
	if d, ok := s.document(r); ok && r.Method == http.MethodGet {
		w.Header().Set("Content-Type", d.contentType)
		_, _ = w.Write(d.text)
		return
	}
	path, namespace, name := split(r.URL.Path)
	c := s.collection[path]
	if r.Method != http.MethodGet {
		s.accept(w, r, c, namespace, name)
		return
	}
	if c == nil {
		fail(w, apierrors.NewNotFound(schema.GroupResource{Resource: path}, name))
		return
	}
	if name != "" {
		s.get(w, r, c, namespace, name)
		return
	}
	rows, err := s.choose(c, namespace, r.URL.Query())
	switch {
	case err != nil:
		fail(w, apierrors.NewBadRequest(err.Error()))
	case r.URL.Query().Get("watch") != "":
		s.watch(w, r, c, rows, done)
	default:
		s.list(w, r, c, rows)
	}
}

// document is what was recorded for a request.
func (s *apiServer) document(r *http.Request) (document, bool) {
	if strings.Contains(r.Header.Get("Accept"), "APIGroupDiscoveryList") {
		if d, ok := s.documents[r.URL.Path+aggregated]; ok {
			return d, true
		}
	}
	d, ok := s.documents[r.URL.Path]
	return d, ok
}

// split takes a path apart: that of the collection, the namespace and the name. Subresources are left out.
func split(path string) (collection, namespace, name string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	head := 2
	if parts[0] == "apis" {
		head = 3
	}
	if len(parts) <= head {
		return path, "", ""
	}
	prefix, rest := "/"+strings.Join(parts[:head], "/")+"/", parts[head:]
	if rest[0] == "namespaces" && len(rest) > 2 && rest[2] != "status" && rest[2] != "finalize" {
		namespace, rest = rest[1], rest[2:]
	}
	if len(rest) > 1 {
		name = rest[1]
	}
	return prefix + rest[0], namespace, name
}

func onlyMetadata(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
}

func (s *apiServer) get(w http.ResponseWriter, r *http.Request, c *collection, namespace, name string) {
	o, tenant := s.find(c, namespace, name)
	if o == nil {
		fail(w, apierrors.NewNotFound(schema.GroupResource{Resource: c.kind}, name))
		return
	}
	var out bytes.Buffer
	o.form(r).write(&out, tenant)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(out.Bytes())
}

// accept counts a request that would change something, and answers as if it had been done: with the object that is there, or else the one
// that was sent.
func (s *apiServer) accept(w http.ResponseWriter, r *http.Request, c *collection, namespace, name string) {
	s.mu.Lock()
	s.writes[r.Method+" "+r.URL.Path]++
	s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	if c != nil && name != "" {
		if o, _ := s.find(c, namespace, name); o != nil {
			s.get(w, r, c, namespace, name)
			return
		}
	}
	if !json.Valid(body) {
		fail(w, apierrors.NewBadRequest("the simulated API server reads JSON only"))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(body)
}

func fail(w http.ResponseWriter, err *apierrors.StatusError) {
	status := err.Status()
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	_ = json.NewEncoder(w).Encode(status)
}

func (s *apiServer) count(requests int, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy += requests
	s.sent += int64(bytes)
	s.last = time.Now()
}

// quietFor is how long nothing has been asked for.
func (s *apiServer) quietFor() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy > 0 {
		return 0
	}
	return time.Since(s.last)
}

// written are the requests that would have changed something, and how many these were.
func (s *apiServer) written() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, request := range slices.Sorted(maps.Keys(s.writes)) {
		all = append(all, fmt.Sprintf("%d x %s", s.writes[request], request))
	}
	return all
}
