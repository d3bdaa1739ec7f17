package copiedcsv

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// writer writes copies. What it answers is the metadata of the copy afterwards.
type writer interface {
	create(ctx context.Context, key types.NamespacedName, body []byte) (*metav1.PartialObjectMetadata, error)
	// replace replaces a copy, or the subresource of one that is not "".
	replace(ctx context.Context, key types.NamespacedName, subresource string, body []byte) (*metav1.PartialObjectMetadata, error)
	remove(ctx context.Context, key types.NamespacedName, uid types.UID) error
	// read asks the cluster for the metadata of what is there, whether it is a copy or not.
	read(ctx context.Context, key types.NamespacedName) (*metav1.PartialObjectMetadata, error)
}

// resource is the name of ClusterServiceVersions in the paths of the API.
const resource = "clusterserviceversions"

// metadataOnly asks the API server to answer with metadata, whatever it was asked to do.
const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

// wire sends requests that are encoded already: the same bytes go to every namespace.
type wire struct{ rest rest.Interface }

func newWire(config *rest.Config, httpClient *http.Client, scheme *runtime.Scheme) (*wire, error) {
	config = rest.CopyConfig(config)
	config.APIPath, config.GroupVersion = "/apis", &v1alpha1.GroupVersion
	config.ContentType = runtime.ContentTypeJSON
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	r, err := rest.RESTClientForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("make a client for copies of ClusterServiceVersions: %w", err)
	}
	return &wire{r}, nil
}

func (w *wire) create(ctx context.Context, key types.NamespacedName, body []byte) (*metav1.PartialObjectMetadata, error) {
	return send(ctx, w.rest.Post().Namespace(key.Namespace).Resource(resource).Param("fieldManager", fieldManager).Body(body))
}

func (w *wire) replace(ctx context.Context, key types.NamespacedName, subresource string, body []byte) (*metav1.PartialObjectMetadata, error) {
	return send(ctx, w.rest.Put().Namespace(key.Namespace).Resource(resource).Name(key.Name).SubResource(subresource).Param("fieldManager", fieldManager).Body(body))
}

func (w *wire) read(ctx context.Context, key types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
	return send(ctx, w.rest.Get().Namespace(key.Namespace).Resource(resource).Name(key.Name))
}

func (w *wire) remove(ctx context.Context, key types.NamespacedName, uid types.UID) error {
	options := &metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}, Preconditions: &metav1.Preconditions{UID: &uid}}
	body, err := json.Marshal(options)
	if err != nil {
		return fmt.Errorf("encode the options of a deletion: %w", err)
	}
	return w.rest.Delete().Namespace(key.Namespace).Resource(resource).Name(key.Name).Body(body).Do(ctx).Error()
}

func send(ctx context.Context, request *rest.Request) (*metav1.PartialObjectMetadata, error) {
	text, err := request.SetHeader("Accept", metadataOnly).Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	answer := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(text, answer); err != nil {
		return nil, fmt.Errorf("read the answer of the API server: %w", err)
	}
	return answer, nil
}
