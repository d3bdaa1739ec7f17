package permissions

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Missing is what a subject lacks to create, read, change and delete the objects, and to make the further requests. The rules are few, each
// right is in one of them, and their order depends on nothing but their content. An *IncompleteError comes with the rules that were found
// nevertheless; with any other error there are none.
func Missing(subject Subject, rules RuleSource, objects []*unstructured.Unstructured, extra ...Need) ([]MissingRule, error) {
	return nil, errors.New("look for missing permissions: not implemented yet")
}
