package devcluster

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"fairlead.dev/fairlead/test/must"
)

// proxiedAPI serves one API group version and says who asks, provided that it is the cluster's API server that asks.
func proxiedAPI(t *testing.T, groupVersion string) http.Handler {
	t.Helper()
	authentication := must.Value(fixtureClient(t).CoreV1().ConfigMaps("kube-system").Get(t.Context(), "extension-apiserver-authentication", metav1.GetOptions{}))(t)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(authentication.Data["requestheader-client-ca-file"])) {
		t.Fatal("the cluster publishes no authority for aggregated APIs")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/apis/"+groupVersion {
			json.NewEncoder(w).Encode(metav1.APIResourceList{
				TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
				GroupVersion: groupVersion,
				APIResources: []metav1.APIResource{{Name: "whoamis", Kind: "WhoAmI", Verbs: metav1.Verbs{"get"}}},
			})
			return
		}
		if len(r.TLS.PeerCertificates) == 0 {
			http.Error(w, "no client certificate", http.StatusUnauthorized)
			return
		}
		_, err := r.TLS.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		json.NewEncoder(w).Encode(map[string]string{"user": r.Header.Get("X-Remote-User"), "path": r.URL.Path})
	})
}

func TestAggregatedAPIInThePlaceOfAPod(t *testing.T) {
	namespace := Namespace(t)
	backend(t, namespace, "api")
	group := namespace + ".fairlead.test"
	address, ca := secureServer(t, "api."+namespace+".svc", proxiedAPI(t, group+"/v1"))
	Route(t, namespace+"/api", address)
	registerAPI(t, namespace, group, ca)

	path := "/apis/" + group + "/v1/whoamis/me"
	var answer map[string]string
	eventually(t, "the aggregated API answers", func(ctx context.Context) (bool, error) {
		body, err := fixtureClient(t).Discovery().RESTClient().Get().AbsPath(path).DoRaw(ctx)
		return err == nil && json.Unmarshal(body, &answer) == nil, nil
	})
	if answer["user"] != "fairlead-admin" || answer["path"] != path {
		t.Errorf("the API was asked for %s by %s", answer["path"], answer["user"])
	}
	resources, err := fixtureClient(t).Discovery().ServerResourcesForGroupVersion(group + "/v1")
	if err != nil || len(resources.APIResources) != 1 {
		t.Errorf("discovery shows %v, %v", resources, err)
	}
}

func registerAPI(t *testing.T, namespace, group string, ca []byte) {
	t.Helper()
	client := must.Value(dynamic.NewForConfig(Config()))(t)
	services := client.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	service := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1",
		"kind":       "APIService",
		"metadata":   map[string]any{"name": "v1." + group},
		"spec": map[string]any{
			"group": group, "version": "v1",
			"groupPriorityMinimum": int64(1000), "versionPriority": int64(10),
			"caBundle": base64.StdEncoding.EncodeToString(ca),
			"service":  map[string]any{"namespace": namespace, "name": "api"},
		},
	}}
	must.Value(services.Create(t.Context(), service, metav1.CreateOptions{}))(t)
	t.Cleanup(func() {
		if err := services.Delete(context.Background(), service.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}
