package preview

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Objects are the Kubernetes objects that a decision is about, of one namespace or of several.
type Objects struct {
	Subscriptions []v1alpha1.Subscription
	Operators     []v1alpha1.ClusterServiceVersion
	Plans         []v1alpha1.InstallPlan
	Groups        []operatorsv1.OperatorGroup
	Sources       []v1alpha1.CatalogSource
	Extensions    []olmv1.ClusterExtension
	Clustered     []olmv1.ClusterCatalog
	// Ignored names the objects in files that no decision is about.
	Ignored []string
}

// maxFile bounds what is read of one file.
const maxFile = 64 << 20

// Decode adds the objects of a file: YAML documents or JSON, lists included. name is what errors call it.
func (o *Objects) Decode(name string, r io.Reader) error {
	limited := &io.LimitedReader{R: r, N: maxFile + 1}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(limited))
	for n := 1; ; n++ {
		document, err := documents.Read()
		if limited.N == 0 {
			return fmt.Errorf("read objects from %s: it has more than %d bytes", name, maxFile)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			document, err = yaml.YAMLToJSON(document)
		}
		if err == nil {
			err = o.add(document)
		}
		if err != nil {
			return fmt.Errorf("read objects from %s: document %d: %w", name, n, err)
		}
	}
}

// add adds the object, or the items of the list, in a JSON document.
func (o *Objects) add(document []byte) error {
	var head struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Items []json.RawMessage `json:"items"`
	}
	if string(document) == "null" {
		return nil
	}
	if err := json.Unmarshal(document, &head); err != nil {
		return fmt.Errorf("it is not a Kubernetes object: %w", err)
	}
	if head.Kind == "" {
		return errors.New("it is not a Kubernetes object: it has no kind")
	}
	if head.Kind == "List" {
		for i, item := range head.Items {
			if err := o.add(item); err != nil {
				return fmt.Errorf("item %d of the list: %w", i+1, err)
			}
		}
		return nil
	}
	var err error
	switch head.GroupVersionKind() {
	case v1alpha1.GroupVersion.WithKind(v1alpha1.SubscriptionKind):
		o.Subscriptions, err = appended(o.Subscriptions, document)
	case v1alpha1.GroupVersion.WithKind(v1alpha1.ClusterServiceVersionKind):
		o.Operators, err = appended(o.Operators, document)
	case v1alpha1.GroupVersion.WithKind(v1alpha1.InstallPlanKind):
		o.Plans, err = appended(o.Plans, document)
	case v1alpha1.GroupVersion.WithKind(v1alpha1.CatalogSourceKind):
		o.Sources, err = appended(o.Sources, document)
	case operatorsv1.GroupVersion.WithKind(operatorsv1.OperatorGroupKind):
		o.Groups, err = appended(o.Groups, document)
	case olmv1.GroupVersion.WithKind(olmv1.ClusterExtensionKind):
		o.Extensions, err = appended(o.Extensions, document)
	case olmv1.GroupVersion.WithKind(olmv1.ClusterCatalogKind):
		o.Clustered, err = appended(o.Clustered, document)
	default:
		o.Ignored = append(o.Ignored, head.Kind+" "+head.Metadata.Name)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", head.Kind, head.Metadata.Name, err)
	}
	return nil
}

func appended[T any](list []T, document []byte) ([]T, error) {
	var object T
	err := json.Unmarshal(document, &object)
	return append(list, object), err
}
