package attack

import (
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/test/harness"
)

// TestEditMakesNoOperatorGroup: a user with edit rights in a namespace cannot make an OperatorGroup there.
func TestEditMakesNoOperatorGroup(t *testing.T) {
	w := sharedWorld(t)
	namespace := w.namespace("attack-edit")
	w.bind(namespace, "mallory", "edit")
	mallory := harness.ClientOf(t, w.as("mallory"))
	err := mallory.Create(t.Context(), &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "mine"}})
	if !apierrors.IsForbidden(err) {
		t.Errorf("a user with edit rights created an OperatorGroup: %v", err)
	}
}
