package devcluster

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

// TestPodsPullAndDoNotPush: the address of a real node is reached by every pod, whose programs need not be trusted with the images of others.
func TestPodsPullAndDoNotPush(t *testing.T) {
	registry := &http.Server{Handler: image.NewRegistry("")}
	pods := httptest.NewServer(readOnly(registry.Handler))
	t.Cleanup(pods.Close)
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		request := must.Value(http.NewRequestWithContext(t.Context(), method, pods.URL+"/v2/", nil))(t)
		response := must.Value(http.DefaultClient.Do(request))(t)
		must.NoError(t, response.Body.Close())
		must.Equal(t, method, response.StatusCode, http.StatusOK)
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		request := must.Value(http.NewRequestWithContext(t.Context(), method, pods.URL+"/v2/app/blobs/uploads/", strings.NewReader("x")))(t)
		response := must.Value(http.DefaultClient.Do(request))(t)
		must.NoError(t, response.Body.Close())
		must.Equal(t, method, response.StatusCode, http.StatusMethodNotAllowed)
	}
}
