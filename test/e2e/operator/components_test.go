package operator

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/examples"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
)

// TestAnOperatorShowsItsComponents: O1 whatever has the label is listed, with its conditions, as it comes and goes; an Operator that is
// deleted comes back while there are components, and not when there are none.
func TestAnOperatorShowsItsComponents(t *testing.T) {
	w := newWorld(t)
	name := "my-package." + w.Namespace
	key := "operators.coreos.com/" + name
	w.Make(&v1.Operator{ObjectMeta: metav1.ObjectMeta{Name: name}})
	w.RemoveLater(&v1.Operator{ObjectMeta: metav1.ObjectMeta{Name: name}})
	w.shows(name)
	meta := metav1.ObjectMeta{Namespace: w.Namespace, Name: "mine", Labels: map[string]string{key: ""}}
	one := int32(1)
	pods := map[string]string{"app": "mine"}
	deployment := &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: pods},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pods}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "example.com/a:1"}}}}}}
	secret, settings := &corev1.Secret{ObjectMeta: meta}, &corev1.ConfigMap{ObjectMeta: *meta.DeepCopy()}
	settings.Labels = nil
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace, Labels: meta.Labels}}
	w.Make(deployment, secret, settings, role)
	w.RemoveLater(role)
	w.shows(name, "Deployment mine", "Secret mine", "ClusterRole "+w.Namespace)
	w.relabel(settings, key, `""`)
	w.shows(name, "Deployment mine", "Secret mine", "ClusterRole "+w.Namespace, "ConfigMap mine")
	must.Eventually(w, "the Deployment to be shown as available", func() error {
		o := &v1.Operator{}
		if err := w.Get(t.Context(), client.ObjectKey{Name: name}, o); err != nil {
			return err
		}
		if status := conditionOf(o, "Deployment", "Available"); status != corev1.ConditionTrue {
			return fmt.Errorf("Available is %q", status)
		}
		return nil
	})
	w.relabel(secret, key, "null")
	before := w.shows(name, "Deployment mine", "ClusterRole "+w.Namespace, "ConfigMap mine")
	must.NoError(t, w.Delete(t.Context(), before))
	must.Eventually(w, "the Operator to come back", func() error {
		o := &v1.Operator{}
		if err := w.Get(t.Context(), client.ObjectKey{Name: name}, o); err != nil {
			return err
		}
		if o.UID == before.UID {
			return fmt.Errorf("it is still there")
		}
		return nil
	})
	w.shows(name, "Deployment mine", "ClusterRole "+w.Namespace, "ConfigMap mine")
	for _, o := range []client.Object{deployment, settings, role} {
		w.relabel(o, key, "null")
	}
	must.Eventually(w, "the Operator, which the controller has created, to go with its last component", func() error {
		err := w.Get(t.Context(), client.ObjectKey{Name: name}, &v1.Operator{})
		if err == nil {
			return errStays
		}
		return client.IgnoreNotFound(err)
	})
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err := w.Get(t.Context(), client.ObjectKey{Name: name}, &v1.Operator{}); !apierrors.IsNotFound(err) {
			t.Fatalf("without components it comes back: %v", err)
		}
	}
}

// TestAnInstalledOperatorIsAdopted: O2 all that an operator from a catalog consists of is listed; labels that users take off come back; then
// nothing is written any more.
func TestAnInstalledOperatorIsAdopted(t *testing.T) {
	w := newWorld(t)
	// Offer the example operators and subscribes to one that needs the other.
	tree := must.Value(fs.Sub(examples.Bundles, "bundles"))(w)
	p := bundleio.Publisher{Registry: devcluster.Registry() + "/" + w.Namespace}
	published := must.Value(p.Bundles(w.Context(), tree))(w)
	c := must.Value(bundleio.Linear(published))(w)
	must.Value(p.Catalog(w.Context(), c, "catalog:latest"))(w)
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: w.Namespace, Name: name} }
	w.Make(&v1.OperatorGroup{ObjectMeta: meta("group"), Spec: v1.OperatorGroupSpec{TargetNamespaces: []string{w.Namespace}}},
		&v1alpha1.CatalogSource{ObjectMeta: meta("catalog"), Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: p.Registry + "/catalog:latest"}},
		&v1alpha1.Subscription{ObjectMeta: meta("guestbook"), Spec: &v1alpha1.SubscriptionSpec{CatalogSource: "catalog", CatalogSourceNamespace: w.Namespace, Package: "guestbook-operator"}})
	name := "guestbook-operator." + w.Namespace
	w.RemoveLater(&v1.Operator{ObjectMeta: metav1.ObjectMeta{Name: name}})
	w.RemoveLater(&v1.Operator{ObjectMeta: metav1.ObjectMeta{Name: "greeter-operator." + w.Namespace}})
	operator := &v1.Operator{}
	harness.Await(w, w, client.ObjectKey{Name: name}, operator, "the operator to be shown as it runs", func() error {
		if operator.Status.Components == nil || conditionOf(operator, "ClusterServiceVersion", "Succeeded") != corev1.ConditionTrue ||
			conditionOf(operator, "Deployment", "Available") != corev1.ConditionTrue || conditionOf(operator, "InstallPlan", "Installed") != corev1.ConditionTrue {
			return fmt.Errorf("it is %+v", operator.Status.Components)
		}
		return nil
	})
	harness.Await(w, w, client.ObjectKey{Name: name}, operator, "every component of the operator to be listed", func() error {
		return complete(w, operator)
	})
	var deployments appsv1.DeploymentList
	if err := w.List(t.Context(), &deployments, client.InNamespace(w.Namespace), client.HasLabels{"operators.coreos.com/" + name}); err != nil || len(deployments.Items) == 0 {
		t.Fatalf("labelled Deployments: %v, %v", deployments.Items, err)
	}
	lost := &deployments.Items[0]
	w.relabel(lost, "operators.coreos.com/"+name, "null")
	harness.Await(w, w, client.ObjectKeyFromObject(lost), lost, "the label to come back", func() error {
		if _, ok := lost.Labels["operators.coreos.com/"+name]; !ok {
			return fmt.Errorf("labels are %v", lost.Labels)
		}
		return nil
	})
	// Watch the components of an Operator for a while: neither they nor the Operator change, so that no two controllers undo what the
	// other one writes.
	var quiet int
	last := map[string]string{}
	must.Eventually(w, "the Operator and its components to rest", func() error {
		w.Helper()
		now := map[string]string{}
		o := &v1.Operator{}
		must.NoError(w, w.Get(w.Context(), client.ObjectKey{Name: name}, o))
		now["Operator"] = o.ResourceVersion
		for kind, list := range map[string]client.ObjectList{"Deployment": &appsv1.DeploymentList{}, "Role": &rbacv1.RoleList{}, "ClusterRole": &rbacv1.ClusterRoleList{},
			"ServiceAccount": &corev1.ServiceAccountList{}, "CSV": &v1alpha1.ClusterServiceVersionList{}, "Subscription": &v1alpha1.SubscriptionList{},
			"CRD": &apiextensionsv1.CustomResourceDefinitionList{}, "InstallPlan": &v1alpha1.InstallPlanList{}} {
			must.NoError(w, w.List(w.Context(), list, client.HasLabels{"operators.coreos.com/" + name}))
			must.NoError(w, eachItem(list, func(o metav1.Object) { now[kind+" "+o.GetName()] = o.GetResourceVersion() }))
		}
		if maps.Equal(last, now) {
			quiet++
		} else {
			quiet = 0
		}
		diff := cmp.Diff(last, now)
		last = now
		if quiet < 80 {
			return fmt.Errorf("changes:\n%s", diff)
		}
		return nil
	})
}

// complete complains about what the operator consists of and the Operator does not list, and about the other operator's.
func complete(w *world, o *v1.Operator) error {
	listed := map[string]int{}
	for _, r := range o.Status.Components.Refs {
		listed[r.Kind]++
		if strings.HasPrefix(r.Name, "greeter") && r.Kind != "InstallPlan" {
			return fmt.Errorf("%s %s of another operator is listed", r.Kind, r.Name)
		}
	}
	for _, kind := range []string{"ClusterServiceVersion", "Subscription", "InstallPlan", "Deployment", "OperatorCondition", "CustomResourceDefinition", "ServiceAccount", "Role", "RoleBinding"} {
		if listed[kind] == 0 {
			return fmt.Errorf("no %s is listed: %v", kind, listed)
		}
	}
	owned := func(o metav1.Object) bool {
		for _, r := range o.GetOwnerReferences() {
			if r.Kind == v1alpha1.ClusterServiceVersionKind && strings.HasPrefix(r.Name, "guestbook") {
				return true
			}
		}
		return false
	}
	for kind, list := range map[string]client.ObjectList{"Deployment": &appsv1.DeploymentList{}, "Role": &rbacv1.RoleList{}, "RoleBinding": &rbacv1.RoleBindingList{},
		"ServiceAccount": &corev1.ServiceAccountList{}, "OperatorCondition": &v2.OperatorConditionList{}} {
		if err := w.List(w.Context(), list, client.InNamespace(w.Namespace)); err != nil {
			return err
		}
		count := 0
		err := eachItem(list, func(o metav1.Object) {
			if owned(o) {
				count++
			}
		})
		if err != nil {
			return err
		}
		if count != listed[kind] {
			return fmt.Errorf("%d of %d objects of kind %s are listed", listed[kind], count, kind)
		}
	}
	return nil
}

// errStays is that an object is there which is to go.
var errStays = errors.New("it is still there")
