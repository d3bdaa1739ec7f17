package preview

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/messages"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	strictjson "sigs.k8s.io/json"
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
	ConfigMaps    []corev1.ConfigMap
	// Ignored names the objects in files that no decision is about.
	Ignored []string
	// Unknown says which fields of objects in files are not known.
	Unknown []string
}

// maxFile bounds what is read of one file.
const maxFile = 64 << 20

// Decode adds the objects of a file: YAML documents or JSON, lists included. name is what errors call it.
func (o *Objects) Decode(name string, r io.Reader) error {
	limited := &io.LimitedReader{R: r, N: maxFile + 1}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(limited))
	empty := true
	for n := 1; ; n++ {
		document, err := documents.Read()
		if limited.N == 0 {
			return fmt.Errorf("read objects from %s: it has more than %d bytes; name files with fewer objects", name, maxFile)
		}
		if errors.Is(err, io.EOF) && empty {
			return fmt.Errorf("read objects from %s: it holds no object; give what kubectl get -o yaml prints", name)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			document, err = toJSON(document)
		}
		if err == nil && string(document) != "null" {
			empty = false
			err = o.addDocument(document)
		}
		if err != nil {
			return fmt.Errorf("read objects from %s: document %d: %w", name, n, err)
		}
	}
}

// toJSON tells what is wrong with YAML in its own words, without those of the libraries that were at work.
func toJSON(document []byte) ([]byte, error) {
	converted, err := catalog.ToJSON(document)
	if err == nil {
		return converted, nil
	}
	why := err.Error()
	for _, prefix := range []string{"error converting YAML to JSON: ", "yaml: "} {
		why = strings.TrimPrefix(why, prefix)
	}
	return nil, fmt.Errorf("it is not YAML: %s; correct it (lines are counted from the begin of the document)", messages.Clean(why))
}

// head is what every object has.
type head struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Items  []json.RawMessage `json:"items"`
	Schema string            `json:"schema"` // what blobs of catalogs have in the place of a kind
}

func (h *head) String() string {
	return strings.TrimSpace(messages.Clean(h.Kind + " " + h.Metadata.Name))
}

func readHead(document []byte) (*head, error) {
	h := &head{}
	if err := json.Unmarshal(document, h); err != nil {
		return nil, fmt.Errorf("it is not a Kubernetes object: %w; give what kubectl get -o yaml prints", plain(err))
	}
	return h, nil
}

// addDocument adds the object, or the items of the list, in a JSON document.
func (o *Objects) addDocument(document []byte) error {
	h, err := readHead(document)
	if err != nil {
		return err
	}
	of, list := strings.CutSuffix(h.Kind, "List")
	if !list || h.Items == nil && of != "" { // there are kinds of such a name that are no lists
		return o.add(h, document)
	}
	for i, item := range h.Items {
		one, err := readHead(item)
		if err == nil && of != "" && one.Kind == "" { // as an API server writes the items of a list of one kind
			one.TypeMeta = metav1.TypeMeta{Kind: of, APIVersion: h.APIVersion}
		}
		if err == nil {
			err = o.add(one, item)
		}
		if err != nil {
			return fmt.Errorf("item %d of the list: %w", i+1, err)
		}
	}
	return nil
}

// maxUnknown is how many unknown fields of an object are told of.
const maxUnknown = 5

// noteUnknown notes the fields of a spec that people write and that are not known: they say nothing, and are most likely misspelt. What
// bundles bring, as ClusterServiceVersions, is not checked.
func (o *Objects) noteUnknown(h *head, document []byte) {
	written := map[string]any{
		v1alpha1.SubscriptionKind: &v1alpha1.Subscription{}, v1alpha1.CatalogSourceKind: &v1alpha1.CatalogSource{},
		operatorsv1.OperatorGroupKind: &operatorsv1.OperatorGroup{}, olmv1.ClusterExtensionKind: &olmv1.ClusterExtension{},
		olmv1.ClusterCatalogKind: &olmv1.ClusterCatalog{},
	}[h.Kind]
	if written == nil {
		return
	}
	strict, err := strictjson.UnmarshalStrict(document, written, strictjson.DisallowUnknownFields)
	if err != nil { // which has been told
		return
	}
	told := 0
	for _, wrong := range strict {
		if field, unknown := strings.CutPrefix(wrong.Error(), `unknown field "spec.`); unknown && told < maxUnknown {
			told++
			o.Unknown = append(o.Unknown, messages.Clean(fmt.Sprintf("%s has a field spec.%s, which is not known and says nothing: correct its name", h, strings.TrimSuffix(field, `"`))))
		}
	}
}

// plain says what is wrong with an object in words of the object, not in those of the program that reads it.
func plain(err error) error {
	var mistyped *json.UnmarshalTypeError
	if !errors.As(err, &mistyped) {
		return errors.New(messages.Clean(strings.TrimPrefix(err.Error(), "json: ")))
	}
	is := map[string]string{"bool": "true or false", "array": "a list", "object": "an object", "string": "a text"}[mistyped.Value]
	if is == "" {
		is = messages.Clean(mistyped.Value) // "number", or "number 5000000000" where it is too large
		if is == "number" {
			is = "a number"
		}
	}
	if mistyped.Field == "" {
		return fmt.Errorf("it is %s, and should be %s", is, expected(mistyped.Type))
	}
	return fmt.Errorf("field %s is %s, and should be %s", messages.Clean(mistyped.Field), is, expected(mistyped.Type))
}

// expected is what a field of a Go type holds.
func expected(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return expected(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.String:
		return "a text"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return fmt.Sprintf("a whole number of %d bits", t.Bits())
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "an object"
}
