package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog/safetext"
)

// ErrUnwritable marks content that the API server never takes, however often it is asked.
var ErrUnwritable = errors.New("the API server does not take it")

const (
	// MaxStored is the size in bytes of the largest request that etcd takes by default. Custom resources and CRDs are stored as JSON.
	MaxStored = 3 << 19
	// maxRequest is the size in bytes of the largest request that the API server reads.
	maxRequest = 3 << 20
	// maxData is the size in bytes of all data that a ConfigMap or a Secret may hold.
	maxData = 1 << 20
	// shownProblems bounds how many problems an error names.
	shownProblems = 5
)

// WritableLimits identifies the limits by which Writable judges.
var WritableLimits = fmt.Sprintf("%d-%d-%d", MaxStored, maxRequest, maxData)

// Writable judges objects before any of them is written: it returns an error that wraps ErrUnwritable when the API server would refuse one for
// its size, its name or its labels, or refuse what is made from a ClusterServiceVersion's names. Nil means that none of this is so.
func Writable(objects []*unstructured.Unstructured) error {
	var problems []string
	for _, object := range objects {
		own, labels := append(sizeProblems(object), nameProblems(object)...), object.GetLabels()
		for _, key := range slices.Sorted(maps.Keys(labels)) {
			short := safetext.Truncate(key, 100)
			own = append(own, problemsOf(fmt.Sprintf("label %q", short), validation.IsQualifiedName(key))...)
			own = append(own, problemsOf(fmt.Sprintf("the value of label %q", short), validation.IsValidLabelValue(labels[key]))...)
		}
		for _, problem := range own {
			problems = append(problems, fmt.Sprintf("%s %s: %s", object.GetKind(), safetext.Truncate(object.GetName(), 100), problem))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s; install another version, or ask the author of the bundle to correct this one", ErrUnwritable,
		safetext.List(problems, shownProblems, "; "))
}

func sizeProblems(object *unstructured.Unstructured) []string {
	text, err := json.Marshal(object.Object)
	if err != nil {
		return []string{fmt.Sprintf("cannot be encoded: %v", err)}
	}
	limit, where := maxRequest, "the API server takes"
	// The kinds of Kubernetes itself are not stored as JSON but in a smaller form.
	if group := object.GroupVersionKind().Group; object.GetKind() == crdKind || strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io") {
		limit, where = MaxStored, "etcd takes"
	}
	if len(text) > limit {
		return []string{fmt.Sprintf("has %d bytes, and %s at most %d in one request: it has to be made smaller, such as by shorter descriptions", len(text), where, limit)}
	}
	if size := dataSize(object); size > maxData {
		return []string{fmt.Sprintf("holds %d bytes of data, and the limit of its kind is %d: the data has to be split", size, maxData)}
	}
	return nil
}

// dataSize is how much a ConfigMap or a Secret holds as the API server counts it.
func dataSize(object *unstructured.Unstructured) int {
	if group := object.GroupVersionKind().Group; group != "" || object.GetKind() != "ConfigMap" && object.GetKind() != secretKind {
		return 0
	}
	sizes := map[string]int{}
	for _, field := range []string{"data", "binaryData", "stringData"} { // a text of stringData takes the place of data
		entries, _, _ := unstructured.NestedMap(object.Object, field)
		for key, value := range entries {
			text, _ := value.(string)
			sizes[key] = len(text)
			if field == "binaryData" || field == "data" && object.GetKind() == secretKind { // base64
				sizes[key] = len(strings.TrimRight(text, "=")) * 3 / 4
			}
		}
	}
	total := 0
	for _, size := range sizes {
		total += size
	}
	return total
}

// nameProblems are those of the object's name, and of the names that are made from it.
func nameProblems(object *unstructured.Unstructured) []string {
	name, gvk := object.GetName(), object.GroupVersionKind()
	switch {
	case gvk.Kind == v1alpha1.ClusterServiceVersionKind && gvk.Group == v1alpha1.GroupName:
		return slices.Concat(problemsOf("the name, which is a label value of all that belongs to it", nameErrors(name)), servingProblems(object))
	case gvk.Kind == "Service" && gvk.Group == "":
		return problemsOf("the name", validation.IsDNS1035Label(name))
	case gvk.Group == "rbac.authorization.k8s.io":
		return nil // these names may hold nearly anything
	}
	return problemsOf("the name", validation.IsDNS1123Subdomain(name))
}

// servingProblems are those of the Deployments and accounts that a ClusterServiceVersion names, and of the Services that are made from them.
func servingProblems(object *unstructured.Unstructured) []string {
	text, err := json.Marshal(object.Object)
	csv := &v1alpha1.ClusterServiceVersion{}
	if err == nil {
		err = json.Unmarshal(text, csv)
	}
	if err != nil {
		return []string{fmt.Sprintf("cannot be read: %v", err)}
	}
	var problems []string
	for _, d := range csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		problems = append(problems, problemsOf(fmt.Sprintf("the name of Deployment %q", safetext.Truncate(d.Name, 100)), validation.IsDNS1123Subdomain(d.Name))...)
		for _, key := range slices.Sorted(maps.Keys(d.Label)) {
			problems = append(problems, problemsOf(fmt.Sprintf("label %q of Deployment %q", safetext.Truncate(key, 100), safetext.Truncate(d.Name, 100)), validation.IsValidLabelValue(d.Label[key]))...)
		}
	}
	for _, deployment := range ServingDeployments(csv) {
		service := ServingServiceName(deployment)
		problems = append(problems, problemsOf(fmt.Sprintf("the name %q of the Service for Deployment %q", safetext.Truncate(service, 100), safetext.Truncate(deployment, 100)), validation.IsDNS1035Label(service))...)
	}
	return problems
}

// problemsOf puts into each message what it is about.
func problemsOf(about string, messages []string) []string {
	out := make([]string, len(messages))
	for i, message := range messages {
		out[i] = about + ": " + message
	}
	return out
}
