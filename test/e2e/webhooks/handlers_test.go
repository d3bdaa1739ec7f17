package webhooks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// paths are where webhooks are asked.
var paths = map[v1alpha1.WebhookAdmissionType]string{validating: "/validate", mutating: "/mutate", converting: "/convert"}

const (
	// refusal is what the validating webhook says about a size below 0.
	refusal = "a size is not negative"
	// mark is the annotation that the mutating webhook adds: the Deployment that did so.
	mark = "example.com/seen-by"
	// factor is how much larger sizes are in v2, so that a thing that was not converted shows.
	factor = 10
)

// handle answers like the operator of the tests.
func (s *server) handle(rw http.ResponseWriter, r *http.Request) {
	var answer any
	var err error
	switch r.URL.Path {
	case paths[validating]:
		answer, err = s.admit(r, validate)
	case paths[mutating]:
		answer, err = s.admit(r, s.mutate)
	case paths[converting]:
		answer, err = convert(r)
	default:
		answer, err = s.api(r)
	}
	if err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	if answer == nil {
		http.NotFound(rw, r)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(answer)
}

func (s *server) admit(r *http.Request, judge func(*unstructured.Unstructured, *admissionv1.AdmissionResponse)) (any, error) {
	review := &admissionv1.AdmissionReview{}
	if err := json.NewDecoder(r.Body).Decode(review); err != nil {
		return nil, err
	}
	thing := &unstructured.Unstructured{}
	if err := thing.UnmarshalJSON(review.Request.Object.Raw); err != nil {
		return nil, err
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	judge(thing, review.Response)
	return review, nil
}

func validate(thing *unstructured.Unstructured, answer *admissionv1.AdmissionResponse) {
	if size(thing) < 0 {
		answer.Allowed, answer.Result = false, &metav1.Status{Message: refusal}
	}
}

func (s *server) mutate(thing *unstructured.Unstructured, answer *admissionv1.AdmissionResponse) {
	annotations := thing.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[mark] = s.w.Namespace + "/" + s.deployment
	value, _ := json.Marshal(annotations) // a map of strings can be encoded
	patch := admissionv1.PatchTypeJSONPatch
	answer.Patch, answer.PatchType = fmt.Appendf(nil, `[{"op":"add","path":"/metadata/annotations","value":%s}]`, value), &patch
}

func convert(r *http.Request) (any, error) {
	review := &apiextensionsv1.ConversionReview{}
	if err := json.NewDecoder(r.Body).Decode(review); err != nil {
		return nil, err
	}
	review.Response = &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, raw := range review.Request.Objects {
		thing := &unstructured.Unstructured{}
		if err := thing.UnmarshalJSON(raw.Raw); err != nil {
			return nil, err
		}
		from, to := thing.GetAPIVersion(), review.Request.DesiredAPIVersion
		converted := size(thing)
		switch {
		case strings.HasSuffix(from, "/v1") && strings.HasSuffix(to, "/v2"):
			converted *= factor
		case strings.HasSuffix(from, "/v2") && strings.HasSuffix(to, "/v1"):
			converted /= factor
		}
		if err := unstructured.SetNestedField(thing.Object, converted, "spec", "size"); err != nil {
			return nil, err
		}
		thing.SetAPIVersion(to)
		review.Response.ConvertedObjects = append(review.Response.ConvertedObjects, runtime.RawExtension{Object: thing})
	}
	return review, nil
}

// api serves the aggregated API: what it has, and widgets, which are there under every name.
func (s *server) api(r *http.Request) (any, error) {
	rest, ok := strings.CutPrefix(r.URL.Path, "/apis/"+s.w.group+"/")
	if !ok {
		return nil, nil
	}
	version, rest, _ := strings.Cut(rest, "/")
	groupVersion := s.w.group + "/" + version
	if rest == "" {
		return metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: groupVersion,
			APIResources: []metav1.APIResource{{Name: "widgets", SingularName: "widget", Namespaced: true, Kind: "Widget", Verbs: metav1.Verbs{"get"}}}}, nil
	}
	parts := strings.Split(rest, "/")
	if len(parts) != 4 || parts[0] != "namespaces" || parts[2] != "widgets" {
		return nil, nil
	}
	widget := &unstructured.Unstructured{Object: map[string]any{"servedBy": s.deployment, "askedBy": r.Header.Get("X-Remote-User")}}
	widget.SetAPIVersion(groupVersion)
	widget.SetKind("Widget")
	widget.SetNamespace(parts[1])
	widget.SetName(parts[3])
	return widget.Object, nil
}
