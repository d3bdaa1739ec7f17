package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/fairlead/test/must"
)

// metadataType is the type of objects that only their metadata is told of.
const metadataType = `"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1"`

// aggregated asks for the resources of all groups in one answer.
const aggregated = "application/json;v=v2;g=apidiscovery.k8s.io;as=APIGroupDiscoveryList"

// snapshot is all that a real API server answered: the documents of discovery, and every object.
type snapshot struct {
	documents  map[string]document
	collection map[string]*collection // by path without namespace, such as /apis/apps/v1/deployments
}

// document is one answer, as it was.
type document struct {
	contentType string
	text        []byte
}

// collection are the objects of a kind, by namespace and name.
type collection struct {
	apiVersion, kind string
	namespaced       bool
	objects          []*object
}

// object is one object, in both forms in which it may be asked for.
type object struct {
	namespace, name string
	labels          labels.Set
	full, metadata  text
	repeated        bool // in the namespace of every tenant
}

// record reads the whole of a cluster. What is in the namespace model, and that namespace, will be there once for every tenant.
func record(b testing.TB, kubeconfig, model string) *snapshot {
	b.Helper()
	config := must.Value(clientcmd.BuildConfigFromFlags("", kubeconfig))(b)
	client := must.Value(rest.HTTPClientFor(config))(b)
	get := func(path, accept string) document { // Ask for one answer, again where the server is not ready for a kind that has just been defined.
		address := config.Host + path
		for until := time.Now().Add(time.Minute); ; time.Sleep(time.Second) {
			request := must.Value(http.NewRequestWithContext(b.Context(), http.MethodGet, address, nil))(b)
			request.Header.Set("Accept", accept)
			response, err := client.Do(request)
			must.NoErrorf(b, err, "record a cluster")
			body, err := io.ReadAll(response.Body)
			response.Body.Close()
			switch {
			case err != nil:
				b.Fatalf("record a cluster: GET %s: %v", address, err)
			case response.StatusCode == http.StatusOK:
				return document{response.Header.Get("Content-Type"), body}
			case response.StatusCode != http.StatusTooManyRequests || time.Now().After(until):
				b.Fatalf("record a cluster: GET %s: %s: %.200s", address, response.Status, body)
			}
		}
	}
	s := &snapshot{documents: map[string]document{}, collection: map[string]*collection{}}
	for _, path := range []string{"/api", "/apis"} {
		s.documents[path+aggregated] = get(path, aggregated)
	}
	for _, path := range []string{"/api", "/apis", "/version", "/api/v1"} {
		s.documents[path] = get(path, "application/json")
	}
	versions := []string{"/api/v1"}
	var groups metav1.APIGroupList
	decode(b, s.documents["/apis"].text, &groups)
	for _, group := range groups.Groups {
		s.documents["/apis/"+group.Name] = get("/apis/"+group.Name, "application/json")
		for _, version := range group.Versions {
			path := "/apis/" + version.GroupVersion
			s.documents[path] = get(path, "application/json")
			versions = append(versions, path)
		}
	}
	for _, path := range versions {
		var resources metav1.APIResourceList
		decode(b, s.documents[path].text, &resources)
		for _, resource := range resources.APIResources {
			if slices.Contains(resource.Verbs, "watch") {
				list := get(path+"/"+resource.Name, "application/json")
				s.collection[path+"/"+resource.Name] = collect(b, resource, resources.GroupVersion, list.text, model)
			}
		}
	}
	return s
}

// collect takes a list apart.
func collect(b testing.TB, resource metav1.APIResource, apiVersion string, list []byte, model string) *collection {
	b.Helper()
	c := &collection{apiVersion: apiVersion, kind: resource.Kind, namespaced: resource.Namespaced}
	var content struct{ Items []map[string]json.RawMessage }
	decode(b, list, &content)
	for _, item := range content.Items {
		// Items of a list do not always say what they are; objects do.
		item["apiVersion"], item["kind"] = fmt.Appendf(nil, "%q", c.apiVersion), fmt.Appendf(nil, "%q", c.kind)
		full := must.Value(json.Marshal(item))(b)
		var meta metav1.ObjectMeta
		decode(b, item["metadata"], &meta)
		o := &object{namespace: meta.Namespace, name: meta.Name, labels: meta.Labels, repeated: meta.Namespace == model || c.kind == "Namespace" && meta.Name == model}
		metadata := fmt.Appendf(nil, `{%s,"metadata":%s}`, metadataType, item["metadata"])
		if o.repeated {
			o.full, o.metadata = newText(full, model, meta), newText(metadata, model, meta)
		} else {
			o.full, o.metadata = text{{text: full}}, text{{text: metadata}}
		}
		c.objects = append(c.objects, o)
	}
	slices.SortStableFunc(c.objects, func(x, y *object) int {
		return strings.Compare(x.namespace+"/"+x.name, y.namespace+"/"+y.name)
	})
	return c
}

func decode(b testing.TB, text []byte, into any) {
	b.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		b.Fatalf("read what a cluster answered: %v\n%.200s", err, text)
	}
}
