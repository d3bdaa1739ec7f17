package validate

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The annotations that hold examples of custom resources.
const (
	examplesAnnotation      = "alm-examples"
	otherExamplesAnnotation = "olm.examples"
)

// checkExamples compares the examples with the APIs that the operator provides.
func checkExamples(r recorder, at place) {
	key := examplesAnnotation
	text, ok := r.csv.Annotations[key]
	other, both := r.csv.Annotations[otherExamplesAnnotation]
	switch {
	case ok && both:
		r.warn(RuleExamplesTwice, at.in("metadata.annotations[%s]", otherExamplesAnnotation),
			"there are examples in two annotations, and those of alm-examples count", "keep one of them")
	case both:
		key, text = otherExamplesAnnotation, other
	case !ok:
		r.warn(RuleExamples, at.in("metadata.annotations"), "example annotations not found", "add alm-examples with one custom resource for each API")
		return
	}
	at = at.in("metadata.annotations[%s]", key)
	examples, err := parseExamples(text)
	if err != nil {
		r.err(RuleExamplesForm, at, err.Error(), "write a JSON list of custom resources")
		return
	}
	provided := map[schema.GroupVersionKind]bool{}
	for _, gvk := range r.csv.ProvidedAPIs() {
		provided[gvk] = true
	}
	shown := map[schema.GroupVersionKind]bool{}
	for i, gvk := range examples {
		shown[gvk] = true
		if !provided[gvk] {
			r.err(RuleExampleAPI, at, fmt.Sprintf("example must have a provided API: [%d] is of %s, which the operator does not own", i, gvk),
				"correct its apiVersion and kind, or add the API to the owned ones")
		}
	}
	for _, gvk := range r.csv.ProvidedAPIs() {
		if !shown[gvk] {
			r.warn(RuleExampleMissing, at, fmt.Sprintf("provided API should have an example annotation: %s has none", gvk), "add a custom resource of it")
		}
	}
}

// parseExamples returns the kinds of the examples.
func parseExamples(text string) ([]schema.GroupVersionKind, error) {
	var examples []struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	err := json.Unmarshal([]byte(text), &examples)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		const most = 60
		end := min(int(syntax.Offset), len(text))
		return nil, fmt.Errorf("the examples are not valid JSON: %w after …%q", err, text[max(0, end-most):end])
	}
	if err != nil {
		return nil, errors.New("the examples are not a list of objects with apiVersion and kind as texts")
	}
	out := make([]schema.GroupVersionKind, 0, len(examples))
	for _, e := range examples {
		out = append(out, schema.FromAPIVersionAndKind(e.APIVersion, e.Kind))
	}
	return out, nil
}
