package webhooks

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// widget asks the aggregated API for a widget, past all caches.
func (w *world) widget(version string) func(context.Context) (*unstructured.Unstructured, error) {
	w.Helper()
	c := must.Value(dynamic.NewForConfig(devcluster.Config()))(w)
	widgets := c.Resource(schema.GroupVersionResource{Group: w.group, Version: version, Resource: "widgets"}).Namespace(w.Namespace)
	return func(ctx context.Context) (*unstructured.Unstructured, error) {
		return widgets.Get(ctx, "one", metav1.GetOptions{})
	}
}

// answers checks that an aggregated API is discovered, and answers.
func (w *world) answers(version, by string) {
	w.Helper()
	c := must.Value(discovery.NewDiscoveryClientForConfig(devcluster.Config()))(w)
	get := w.widget(version)
	must.Eventually(w, "the aggregated API to answer", func() error {
		resources, err := c.ServerResourcesForGroupVersion(w.group + "/" + version)
		if err != nil {
			return err
		}
		if len(resources.APIResources) != 1 || resources.APIResources[0].Kind != "Widget" {
			return fmt.Errorf("discovery shows %v", resources.APIResources)
		}
		widget, err := get(w.Context())
		if err != nil {
			return err
		}
		if widget.Object["servedBy"] != by || widget.Object["askedBy"] == "" {
			return fmt.Errorf("the answer is %v, want it from %s", widget.Object, by)
		}
		return nil
	})
}

// registration reads the APIService of a version of the test's group; nil when there is none.
func (w *world) registration(version string) *apiregistrationv1.APIService {
	w.Helper()
	s := &apiregistrationv1.APIService{}
	if !w.Read(version+"."+w.group, s) {
		return nil
	}
	return s
}

// TestOwnedAPIService: two APIs of one Deployment answer, everything that they need is there, and goes with the operator.
func TestOwnedAPIService(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serve("manager")
	w.Make(w.here(), w.operator("op.v1", w.apis("manager", "v1", "v2")))
	csv := w.Succeeds("op.v1")
	w.answers("v1", "manager")
	w.answers("v2", "manager")

	secret := w.secret("manager-service-cert")
	for _, version := range []string{"v1", "v2"} {
		s := w.registration(version)
		if s == nil || string(s.Spec.CABundle) != string(secret.Data["olmCAKey"]) || s.Spec.GroupPriorityMinimum != 2000 || s.Spec.VersionPriority != 15 || *s.Spec.Service.Port != 5443 {
			t.Errorf("APIService of %s: %+v", version, s)
		}
	}
	service := &corev1.Service{}
	if !w.Read("manager-service", service) || len(service.Spec.Ports) != 1 || service.Spec.Selector["app"] != "manager" {
		t.Errorf("Service: %+v", service.Spec)
	}
	if secret.Type != corev1.SecretTypeTLS || secret.Annotations["olmcahash"] == "" || secret.Annotations["olmcahash"] != w.deployment("manager").Spec.Template.Annotations["olmcahash"] {
		t.Errorf("Secret: %s, %v", secret.Type, secret.Annotations)
	}
	account := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: w.Namespace, Name: "default"}}
	role, own, reader, delegator := &rbacv1.Role{}, &rbacv1.RoleBinding{}, &rbacv1.RoleBinding{}, &rbacv1.ClusterRoleBinding{}
	if !w.Read("manager-service-cert", role) || !slices.Contains(role.Rules[0].ResourceNames, "manager-service-cert") {
		t.Errorf("Role: %v", role.Rules)
	}
	if !w.Read("manager-service-cert", own) || cmp.Diff(account, own.Subjects) != "" {
		t.Errorf("RoleBinding: %v", own)
	}
	// The names of other namespaces' objects are taken, so that those of this namespace have it in their names; see TestServingObjects.
	of := client.MatchingLabels(bundle.OwnerLabels(csv))
	var readers rbacv1.RoleBindingList
	var delegators rbacv1.ClusterRoleBindingList
	if err := w.List(t.Context(), &readers, of, client.InNamespace("kube-system")); err != nil || len(readers.Items) != 1 {
		t.Fatal(readers.Items, err)
	}
	if err := w.List(t.Context(), &delegators, of); err != nil || len(delegators.Items) != 1 {
		t.Fatal(delegators.Items, err)
	}
	*reader, *delegator = readers.Items[0], delegators.Items[0]
	if reader.RoleRef.Name != "extension-apiserver-authentication-reader" || cmp.Diff(account, reader.Subjects) != "" {
		t.Errorf("RoleBinding of %s: %v", reader.Namespace, reader)
	}
	if delegator.RoleRef.Name != "system:auth-delegator" || cmp.Diff(account, delegator.Subjects) != "" {
		t.Errorf("ClusterRoleBinding: %v", delegator)
	}

	w.Remove(csv)
	w.Goes("v1."+w.group, &apiregistrationv1.APIService{})
	w.Goes("v2."+w.group, &apiregistrationv1.APIService{})
	w.Goes(delegator.Name, delegator)
	for _, object := range []client.Object{service, secret, role, own} {
		if owners := object.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != csv.UID {
			t.Errorf("%T does not go with the operator: its owners are %v", object, owners)
		}
	}
	must.Eventually(w, "the RoleBinding of kube-system to go", func() error {
		if w.In("kube-system").Read(reader.Name, reader) {
			return fmt.Errorf("it is there")
		}
		return nil
	})
}

// TestAPIServiceIsHandedOver to a version whose server is another Deployment, which comes up slowly. Nobody who asks notices.
func TestAPIServiceIsHandedOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.serve("old")
	w.Make(w.here(), w.operator("op.v1", fixture.Deployments("old"), w.apis("old", "v1")))
	w.Succeeds("op.v1")
	w.answers("v1", "old")
	uid := w.registration("v1").UID
	get := w.widget("v1")
	asking := w.busy("asking the aggregated API", func(ctx context.Context) error {
		_, err := get(ctx)
		return err
	})
	after := w.serve("new")
	before.endsWith("op.v1")
	w.Make(w.operator("op.v2", fixture.Replacing("op.v1"), fixture.Deployments("new"), gated, w.apis("new", "v1")))
	w.Is("op.v2", v1alpha1.CSVPhaseInstalling, v1alpha1.CSVReasonWaiting)
	asking.goesOn()
	if after.count("/apis/"+w.group+"/v1") > 0 {
		t.Error("the new server is asked before its pods run")
	}
	w.openGates("new")
	w.Succeeds("op.v2")
	w.Goes("op.v1", &v1alpha1.ClusterServiceVersion{})
	w.answers("v1", "new")
	asking.goesOn()
	asking.neverFailed()
	if s := w.registration("v1"); s.UID != uid || s.Labels[v1alpha1.OwnerLabel] != "op.v2" {
		t.Errorf("the APIService was made again, or belongs to somebody else: %v", s.ObjectMeta)
	}
}

// TestAPIServiceOfAnother is not taken over: not that of an operator of another namespace, not one that belongs to nobody. It is as soon as
// that is gone, and one that was left behind is at once.
func TestAPIServiceOfAnother(t *testing.T) {
	t.Parallel()
	one := newWorld(t)
	one.serve("manager")
	one.Make(one.here(), one.operator("op.v1", one.apis("manager", "v1")))
	one.Succeeds("op.v1")
	two := newWorld(t)
	two.group = one.group
	two.serve("manager")
	two.Make(two.here(), two.operator("op.v1", two.apis("manager", "v1")))
	csv := two.Is("op.v1", v1alpha1.CSVPhaseFailed, v1alpha1.CSVReasonOwnerConflict)
	if want := fmt.Sprintf("unable to adopt APIService: APIService v1.%s belongs to ClusterServiceVersion %s/op.v1; delete it or them first", one.group, one.Namespace); csv.Status.Message != want {
		t.Errorf("the message is %q, want %q", csv.Status.Message, want)
	}
	one.answers("v1", "manager")
	one.uninstall(one.Namespace)
	two.Succeeds("op.v1")
	two.answers("v1", "manager")
}

// TestAPIServiceWithoutOwner is not taken over until somebody says that it belongs to the operator.
func TestAPIServiceWithoutOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serve("manager")
	csv := w.operator("op.v1", w.apis("manager", "v1"))
	local := &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1." + w.group}}
	local.Spec = apiregistrationv1.APIServiceSpec{Group: w.group, Version: "v1", GroupPriorityMinimum: 100, VersionPriority: 100,
		Service: &apiregistrationv1.ServiceReference{Namespace: w.Namespace, Name: "nowhere"}, InsecureSkipTLSVerify: true}
	t.Cleanup(func() { _ = w.Delete(context.WithoutCancel(t.Context()), local) })
	w.Make(local, w.here(), csv)
	w.Is("op.v1", v1alpha1.CSVPhaseFailed, v1alpha1.CSVReasonOwnerConflict)
	if s := w.registration("v1"); s.Spec.Service.Name != "nowhere" {
		t.Errorf("it was taken over: %+v", s.Spec)
	}
	uid := local.UID
	edit(w, local.Name, local, func(s *apiregistrationv1.APIService) { s.Labels = bundle.OwnerLabels(csv) })
	w.Succeeds("op.v1")
	w.answers("v1", "manager")
	if s := w.registration("v1"); s.UID != uid || s.Spec.InsecureSkipTLSVerify || s.Spec.GroupPriorityMinimum != 2000 {
		t.Errorf("the APIService is %+v", s)
	}
}

// TestOrphanedAPIService goes when its operator does not exist.
func TestOrphanedAPIService(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	orphan := &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1." + w.group, Labels: bundle.OwnerLabels(w.operator("gone.v1"))}}
	orphan.Spec = apiregistrationv1.APIServiceSpec{Group: w.group, Version: "v1", GroupPriorityMinimum: 100, VersionPriority: 100,
		Service: &apiregistrationv1.ServiceReference{Namespace: w.Namespace, Name: "nowhere"}, InsecureSkipTLSVerify: true}
	w.Make(orphan)
	w.Goes(orphan.Name, orphan)
}

// TestDisruptedAPIService: an API that is away while its pods are replaced, as by a node that is drained, is no failure of the operator.
func TestDisruptedAPIService(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serve("manager")
	w.Make(w.here(), w.operator("op.v1", gated, w.apis("manager", "v1")))
	w.openGates("manager")
	before := w.Succeeds("op.v1")
	w.answers("v1", "manager")
	for _, pod := range w.pods("manager") {
		w.Remove(&pod)
	}
	must.Eventually(w, "the API to be away", func() error {
		for _, c := range w.registration("v1").Status.Conditions {
			if c.Type == apiregistrationv1.Available && c.Status == apiregistrationv1.ConditionFalse {
				return nil
			}
		}
		return fmt.Errorf("it is not")
	})
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		csv := &v1alpha1.ClusterServiceVersion{}
		if w.Read("op.v1", csv); csv.Status.Phase != v1alpha1.CSVPhaseSucceeded || !csv.Status.LastTransitionTime.Equal(before.Status.LastTransitionTime) {
			t.Fatalf("it is %s/%s: %s; history %v", csv.Status.Phase, csv.Status.Reason, csv.Status.Message, harness.History(csv))
		}
	}
	w.openGates("manager")
	w.answers("v1", "manager")
	if after := w.Succeeds("op.v1"); len(after.Status.Conditions) != len(before.Status.Conditions) {
		t.Errorf("the history is %v", harness.History(after))
	}
}
