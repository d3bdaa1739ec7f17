package clusterserviceversion

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// belonging is what the metadata of an object says of whose it is.
func belonging(change func(*metav1.ObjectMeta)) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Namespace: ns, Name: "manager", UID: "of-before"}
	change(&m)
	return m
}

func ownerLabels(name string) map[string]string {
	return map[string]string{v1alpha1.OwnerKindLabel: v1alpha1.ClusterServiceVersionKind, v1alpha1.OwnerNamespaceLabel: ns, v1alpha1.OwnerLabel: name}
}

func ownerRef(apiVersion, kind, name string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: "u", Controller: new(true)}}
}

// TestDeploymentThatIsThere: one that a user or somebody's controller has is not taken over, and nothing else is made before that is settled.
// One that belongs to nobody any more, or is offered, is taken.
func TestDeploymentThatIsThere(t *testing.T) {
	operators := v1alpha1.GroupVersion.String()
	for name, tc := range map[string]struct {
		change  func(*metav1.ObjectMeta)
		refused string
	}{
		"a user's": {func(*metav1.ObjectMeta) {}, "Deployment operators/manager exists, and nothing says that it belongs to an operator: delete or rename it, or let operators have it by giving it the label olm.managed=true"},
		"a chart's": {func(m *metav1.ObjectMeta) {
			m.Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm"}
		}, "nothing says that it belongs to an operator"},
		"a controller's, although offered": {func(m *metav1.ObjectMeta) {
			m.Labels, m.OwnerReferences = map[string]string{v1alpha1.ManagedLabel: "true"}, ownerRef("example.com/v1", "Thing", "x")
		}, "Deployment operators/manager is controlled by Thing x"},
		"another operator's": {func(m *metav1.ObjectMeta) {
			m.Labels = ownerLabels("neighbour.v1")
		}, "is one of ClusterServiceVersion neighbour.v1"},
		"another operator's by its owner": {func(m *metav1.ObjectMeta) {
			m.OwnerReferences = ownerRef(operators, v1alpha1.ClusterServiceVersionKind, "neighbour.v1")
		}, "belongs to ClusterServiceVersion operators/neighbour.v1"},
		"another operator's, with the label of one that is gone": {func(m *metav1.ObjectMeta) {
			m.Labels, m.OwnerReferences = ownerLabels("gone.v1"), ownerRef(operators, v1alpha1.ClusterServiceVersionKind, "neighbour.v1")
		}, "belongs to ClusterServiceVersion operators/neighbour.v1"},
		"another operator's, with the label of one that is replaced": {func(m *metav1.ObjectMeta) {
			m.Labels, m.OwnerReferences = ownerLabels("op.v1"), ownerRef(operators, v1alpha1.ClusterServiceVersionKind, "neighbour.v1")
		}, "belongs to ClusterServiceVersion operators/neighbour.v1"},
		"offered":                     {func(m *metav1.ObjectMeta) { m.Labels = map[string]string{v1alpha1.ManagedLabel: "true"} }, ""},
		"its own, of another manager": {func(m *metav1.ObjectMeta) { m.Labels = ownerLabels("op.v2") }, ""},
		"its own, without labels": {func(m *metav1.ObjectMeta) {
			m.OwnerReferences = ownerRef(operators, v1alpha1.ClusterServiceVersionKind, "op.v2")
		}, ""},
		"of the version that was here": {func(m *metav1.ObjectMeta) { m.Labels = ownerLabels("op.v1") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			before := &appsv1.Deployment{ObjectMeta: belonging(tc.change), Spec: newStrategy("theirs").Spec}
			k := newCluster(t, newGroup(""), before, newCSV("neighbour.v1", withoutAccounts, withDeployments("other")))
			k.create(newCSV("op.v2", withoutAccounts, replacing("op.v1")))
			if tc.refused == "" {
				expect(t, k.pass("op.v2"), toInstalling, "InstallWaiting", "")
				return
			}
			csv := k.pass("op.v2")
			if csv.Status.Phase != toFailed || !strings.Contains(csv.Status.Message, tc.refused) {
				t.Errorf("%s/%s %q, want it to say %q", csv.Status.Phase, csv.Status.Reason, csv.Status.Message, tc.refused)
			}
			for _, w := range k.wrote() {
				if strings.HasPrefix(w, "apply Deployment") || strings.HasPrefix(w, "apply Service") {
					t.Errorf("%s", w)
				}
			}
			k.stays(t, "op.v2")
			k.delete(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "manager"}})
			k.pass("op.v2")
			expect(t, k.pass("op.v2"), toInstalling, "InstallWaiting", "")
		})
	}
}

// stays makes sure that a CSV which waits for a user changes nothing, and is looked at again without an event.
func (k *cluster) stays(t *testing.T, name string) {
	t.Helper()
	before := k.csv(name)
	k.wrote()
	result, err := k.reconcile(name)
	if err != nil || result.RequeueAfter == 0 && before.Status.Reason != v1alpha1.CSVReasonOwnerConflict { // that ends with another CSV
		t.Errorf("it is looked at again after %s: %v", result.RequeueAfter, err)
	}
	if after := k.csv(name); after.ResourceVersion != before.ResourceVersion {
		t.Errorf("the status changes from %q to %q", before.Status.Message, after.Status.Message)
	}
}

// TestServiceThatIsThere: neither is a user's Service in front of the operator's webhooks.
func TestServiceThatIsThere(t *testing.T) {
	theirs := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "manager-service"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "theirs"}}}
	k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"), theirs)
	k.create(newCSV("op.v1", withoutAccounts, withWebhooks))
	csv := k.pass("op.v1")
	if csv.Status.Phase != toFailed || !strings.Contains(csv.Status.Message, "Service operators/manager-service exists, and nothing says that it belongs to an operator") {
		t.Errorf("%s/%s %q", csv.Status.Phase, csv.Status.Reason, csv.Status.Message)
	}
	live := &corev1.Service{}
	if k.get(ns, "manager-service", live); live.Spec.Selector["app"] != "theirs" || len(live.Labels) > 0 {
		t.Errorf("the Service is now %+v", live)
	}
}

// TestHealingTakesNothing: a Deployment that somebody makes in place of the operator's is theirs, while the operator says what it lacks.
func TestHealingTakesNothing(t *testing.T) {
	k := newCluster(t, newGroup(""))
	k.installed(newCSV("op.v1", withoutAccounts))
	k.delete(managerDeployment())
	k.create(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "manager"}, Spec: newStrategy("theirs").Spec})
	for range 3 {
		_, _ = k.reconcile("op.v1")
	}
	live := &appsv1.Deployment{}
	if err := k.client.Get(t.Context(), client.ObjectKeyFromObject(managerDeployment()), live); err != nil || len(live.Labels) > 0 {
		t.Errorf("the Deployment is now %+v, %v", live.ObjectMeta, err)
	}
	if csv := k.csv("op.v1"); csv.Status.Phase != toFailed || !strings.Contains(csv.Status.Message, "nothing says that it belongs to an operator") {
		t.Errorf("%s/%s %q", csv.Status.Phase, csv.Status.Reason, csv.Status.Message)
	}
}
