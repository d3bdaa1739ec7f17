package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The field managers of the other lifecycle manager: its two programs, and what it applies catalog pods with.
const (
	otherOLM      = client.FieldOwner("olm")
	otherCatalog  = client.FieldOwner("catalog")
	otherRegistry = client.FieldOwner("olm.registry")
)

// TestMovingFromTheOtherManager lays down an operator and a catalog as the other lifecycle manager leaves them when it is stopped, runs
// this one, and finds that the operator was not touched, that the catalog is served, and that what only the other one needed is gone.
func TestMovingFromTheOtherManager(t *testing.T) {
	w := newWorld(t)
	harness.Apply(t.Context(), t, w, harness.Kustomized(t, config))
	// Lay everything down.
	namespace := devcluster.Namespace(t)
	w.t.Helper()
	m := &migration{world: w, namespace: namespace}
	must.NoError(w.t, ignoreExists(w.Create(w.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "olm"}})))
	m.installKinds()
	m.lay(&operatorsv1.OperatorGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "group", Annotations: map[string]string{"olm.providedAPIs": "Greeting.v1.demo.fairlead.dev"}},
		Spec:       operatorsv1.OperatorGroupSpec{TargetNamespaces: []string{m.namespace}},
		Status:     operatorsv1.OperatorGroupStatus{Namespaces: []string{m.namespace}, LastUpdated: ptr.To(metav1.Now())},
	}, otherOLM)
	m.leaveCatalog()
	m.leaveOperator()
	before := m.operator()
	stop := w.run(w.asManager())
	// Wait until this manager has said of the Subscription and of the ClusterServiceVersion what it thinks of them.
	m.t.Helper()
	must.Eventually(m.t, "the Subscription to be judged", func() error {
		sub := &v1alpha1.Subscription{}
		if err := m.Get(m.t.Context(), client.ObjectKey{Namespace: m.namespace, Name: "greeter"}, sub); err != nil {
			return err
		}
		if sub.Status.State != v1alpha1.SubscriptionStateAtLatest || sub.Status.InstalledCSV != m.csv.Name || len(sub.Status.CatalogHealth) == 0 {
			return fmt.Errorf("status %+v", sub.Status)
		}
		return nil
	})
	m.succeeds(m.namespace, m.csv.Name)
	m.catalogIsTakenOver()
	time.Sleep(3 * time.Second) // for what should not happen
	must.Equal(t, "the operator was touched", m.operator(), before)
	var plans v1alpha1.InstallPlanList
	if err := w.List(t.Context(), &plans, client.InNamespace(m.namespace)); err != nil || len(plans.Items) != 1 || plans.Items[0].Status.Phase != v1alpha1.InstallPlanPhaseComplete {
		t.Errorf("%d plans, %v", len(plans.Items), err)
	}
	stop()
	m.canGoBack()
}

// migration is what the other manager has left.
type migration struct {
	*world
	namespace string
	csv       *v1alpha1.ClusterServiceVersion
	source    *v1alpha1.CatalogSource
	crd       client.ObjectKey
}

// operator is what must not change: who restarts, or is made again, would be another one.
func (m *migration) operator() map[string]string {
	m.t.Helper()
	seen := map[string]string{}
	d := &appsv1.Deployment{}
	must.NoError(m.t, m.Get(m.t.Context(), client.ObjectKey{Namespace: m.namespace, Name: "greeter-operator"}, d))
	seen["Deployment"] = fmt.Sprint(d.UID, " generation ", d.Generation)
	var pods corev1.PodList
	must.NoError(m.t, m.List(m.t.Context(), &pods, client.InNamespace(m.namespace), client.MatchingLabels{"app.kubernetes.io/name": "greeter-operator"}))
	for _, p := range pods.Items {
		seen["Pod "+p.Name] = string(p.UID)
	}
	for kind, list := range map[string]client.ObjectList{"Role": &rbacv1.RoleList{}, "RoleBinding": &rbacv1.RoleBindingList{}, "ServiceAccount": &corev1.ServiceAccountList{}} {
		must.NoError(m.t, m.List(m.t.Context(), list, client.InNamespace(m.namespace)))
		all := must.Value(json.Marshal(list))(m.t)
		var items struct {
			Items []metav1.PartialObjectMetadata
		}
		must.NoError(m.t, json.Unmarshal(all, &items))
		for _, o := range items.Items {
			if strings.HasPrefix(o.Name, "greeter") {
				seen[kind+" "+o.Name] = string(o.UID)
			}
		}
	}
	crd := &unstructured.Unstructured{}
	crd.SetAPIVersion("apiextensions.k8s.io/v1")
	crd.SetKind("CustomResourceDefinition")
	must.NoError(m.t, m.Get(m.t.Context(), m.crd, crd))
	seen["CustomResourceDefinition"] = fmt.Sprint(crd.GetUID(), " generation ", crd.GetGeneration())
	return seen
}

// catalogIsTakenOver waits until this manager serves the catalog by the Service that was there, and pod and policies are gone.
func (m *migration) catalogIsTakenOver() {
	m.t.Helper()
	must.Eventually(m.t, "the pod of the catalog to go", func() error {
		var pods corev1.PodList
		var policies networkingv1.NetworkPolicyList
		if err := errors.Join(m.List(m.t.Context(), &pods, client.InNamespace("olm"), client.MatchingLabels{"olm.catalogSource": "moved"}),
			m.List(m.t.Context(), &policies, client.InNamespace("olm"), client.MatchingLabels{"olm.catalogSource": "moved"})); err != nil {
			return err
		}
		if len(pods.Items)+len(policies.Items) > 0 {
			return fmt.Errorf("%d pods, %d policies", len(pods.Items), len(policies.Items))
		}
		return nil
	})
	m.serves(m.source)
	must.Eventually(m.t, "the Service of the catalog to lead to the manager", func() error {
		service := &corev1.Service{}
		if err := m.Get(m.t.Context(), client.ObjectKey{Namespace: "olm", Name: "moved"}, service); err != nil {
			return err
		}
		if _, hashed := service.Labels["olm.service-spec-hash"]; hashed || len(service.Spec.Selector) > 0 {
			return fmt.Errorf("it selects %v, labels %v", service.Spec.Selector, service.Labels) // the other manager would leave it so
		}
		return nil
	})
	content := &corev1.ConfigMap{}
	if err := m.Get(m.t.Context(), client.ObjectKey{Namespace: "olm", Name: "3f1c0d6a5e"}, content); err != nil {
		m.t.Errorf("the ConfigMap that a bundle was unpacked into: %v", err)
	}
}

// canGoBack: the other manager finds the fields that it reads.
func (m *migration) canGoBack() {
	m.t.Helper()
	csv := m.succeeds(m.namespace, m.csv.Name)
	for key, value := range m.csv.Annotations {
		must.Equal(m.t, fmt.Sprintf("annotation %s of the ClusterServiceVersion", key), csv.Annotations[key], value)
	}
	source := &v1alpha1.CatalogSource{}
	must.NoError(m.t, m.Get(m.t.Context(), client.ObjectKeyFromObject(m.source), source))
	must.Equal(m.t, "the spec of the catalog", source.Spec, m.source.Spec)
}
