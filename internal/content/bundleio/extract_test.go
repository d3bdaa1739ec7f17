package bundleio

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/bundle/configmap"
	"fairlead.dev/fairlead/test/must"
)

// api serves one ConfigMap, as far as a client asks for it.
type api struct {
	object   map[string]any
	requests []string
	refuse   bool
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.requests = append(a.requests, r.Method+" "+r.URL.Path)
	w.Header().Set("Content-Type", "application/json")
	status := func(code int, reason string) {
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code})
	}
	switch {
	case a.refuse:
		status(http.StatusForbidden, "Forbidden")
		return
	case r.Method == http.MethodGet && a.object == nil:
		status(http.StatusNotFound, "NotFound")
		return
	case r.Method != http.MethodGet:
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &a.object) != nil {
			status(http.StatusBadRequest, "BadRequest")
			return
		}
	}
	_ = json.NewEncoder(w).Encode(a.object)
}

func TestExtract(t *testing.T) {
	existing := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "b", "namespace": "ns", "annotations": map[string]any{
			"mine": "kept", configmap.EncodingAnnotation: "gzip+base64", "olm.sourceImage": "example.com/old",
			"operators.operatorframework.io.bundle.channel.default.v1": "old",
		}},
		"data": map[string]any{"old.yaml": "x"},
	}
	content := &configmap.Content{Annotations: map[string]string{"k": "v"}, Data: map[string]string{"csv.yaml": "kind: X"}, BinaryData: map[string][]byte{"b": []byte("bin")}}
	tests := map[string]struct {
		api         *api
		annotations map[string]any
		requests    []string
	}{
		"one that is there": {&api{object: existing}, map[string]any{"mine": "kept", "k": "v"},
			[]string{"GET /api/v1/namespaces/ns/configmaps/b", "PUT /api/v1/namespaces/ns/configmaps/b"}},
		"one that is not": {&api{}, map[string]any{"k": "v"},
			[]string{"GET /api/v1/namespaces/ns/configmaps/b", "POST /api/v1/namespaces/ns/configmaps"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(tc.api)
			defer server.Close()
			client := must.Value(dynamic.NewForConfig(&rest.Config{Host: server.URL}))(t)
			must.NoError(t, Extract(t.Context(), client, "ns", "b", content))
			want := map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "b", "namespace": "ns", "annotations": tc.annotations},
				"data": map[string]any{"csv.yaml": "kind: X"}, "binaryData": map[string]any{"b": "Ymlu"},
			}
			must.Equal(t, "result", tc.api.object, want)
			must.Equal(t, "requests", tc.api.requests, tc.requests)
		})
	}
}

func TestExtractNamesTheConfigMap(t *testing.T) {
	server := httptest.NewServer(&api{refuse: true})
	defer server.Close()
	client, err := dynamic.NewForConfig(&rest.Config{Host: server.URL})
	must.NoError(t, err)
	err = Extract(t.Context(), client, "ns", "b", &configmap.Content{})
	must.Fail(t, "Extract", err, "read ConfigMap ns/b")
}
