package attack

import (
	"errors"
	"fmt"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestConfinedAccountOpensLifecycleKinds: an account that an OperatorGroup confines to one namespace says that its operator owns OperatorGroups and
// CatalogSources. No user with edit rights elsewhere may create these then.
func TestConfinedAccountOpensLifecycleKinds(t *testing.T) {
	w := sharedWorld(t)
	installer := w.confined("attack-lifecycle")
	victim := w.namespace("attack-lifecycle-edit")
	w.bind(victim, "mallory", "edit")
	mallory := harness.ClientOf(t, w.as("mallory"))
	harness.Create(t, installer, operator("attack-lifecycle", "greedy.v1", "operatorgroups.operators.coreos.com", "catalogsources.operators.coreos.com/v1alpha1"))

	csv := w.phase("attack-lifecycle", "greedy.v1", v1alpha1.CSVPhaseSucceeded, v1alpha1.CSVPhaseFailed)
	t.Logf("the ClusterServiceVersion is %s (%s): %s", csv.Status.Phase, csv.Status.Reason, csv.Status.Message)
	w.never("mallory creates OperatorGroups", func() bool {
		return mayCreate(t, mallory, &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: victim, Name: "mine"}})
	})
	if csv.Status.Phase != v1alpha1.CSVPhaseFailed || csv.Status.Reason != v1alpha1.CSVReasonInvalidStrategy {
		t.Errorf("the ClusterServiceVersion is not refused: %s (%s)", csv.Status.Phase, csv.Status.Reason)
	}
}

// TestConfinedAccountOpensForeignAPI: an account says that its operator owns the definition of a platform team, which is not aggregated. No user with
// edit rights may write its custom resources then.
func TestConfinedAccountOpensForeignAPI(t *testing.T) {
	w := sharedWorld(t)
	installer := w.confined("attack-foreign")
	victim := w.namespace("attack-foreign-edit")
	w.bind(victim, "mallory", "edit")
	mallory := harness.ClientOf(t, w.as("mallory"))
	crd := w.definition("vaults", "platform.example.com", nil)
	harness.Create(t, installer, operator("attack-foreign", "greedy.v1", crd.Name))
	w.phase("attack-foreign", "greedy.v1", v1alpha1.CSVPhaseSucceeded)
	w.never("mallory creates custom resources of "+crd.Name, func() bool { return mayCreate(t, mallory, thing(crd, victim)) })
}

// TestRolesEndWithTheirOperator: what a ClusterServiceVersion opened is closed when it is deleted.
func TestRolesEndWithTheirOperator(t *testing.T) {
	w := sharedWorld(t)
	home, victim := w.namespace("attack-outlive"), w.namespace("attack-outlive-edit")
	w.group(home, "")
	w.bind(victim, "mallory", "edit")
	mallory := harness.ClientOf(t, w.as("mallory"))
	crd := w.definition("lamps", "outlive.example.com", provided)
	csv := operator(home, "outlived.v1", crd.Name)
	harness.Create(t, w, csv)
	w.phase(home, "outlived.v1", v1alpha1.CSVPhaseSucceeded)
	w.may(mallory, crd, victim, true)
	harness.Remove(t, w, csv)
	w.may(mallory, crd, victim, false)
}

// may waits until a client may create custom resources of a definition, or no longer may.
func (w *world) may(c client.Client, crd *apiextensionsv1.CustomResourceDefinition, namespace string, want bool) {
	w.t.Helper()
	must.Eventually(w.t, fmt.Sprintf("the right to create %s to be %t", crd.Name, want), func() error {
		if mayCreate(w.t, c, thing(crd, namespace)) != want {
			return errors.New("it is not")
		}
		return nil
	})
}

// provided is the administrator's word that the operator that owns a definition opens it to the users of the cluster.
func provided(crd *apiextensionsv1.CustomResourceDefinition) {
	crd.Labels = map[string]string{"operators.fairlead.dev/provided-roles": "true"}
}

// settleTime is longer than the manager and the cluster take from a ClusterServiceVersion that runs to rights in the roles of the cluster.
const settleTime = 15 * time.Second

// never fails the test as soon as the attack succeeds.
func (w *world) never(what string, succeeds func() bool) {
	w.t.Helper()
	for end := time.Now().Add(settleTime); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if succeeds() {
			w.t.Fatalf("the attack succeeds: %s", what)
		}
	}
}
