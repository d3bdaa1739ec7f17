package operator

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"
)

const (
	ns   = "operators"
	name = "etcd." + ns
	key  = "operators.coreos.com/" + name
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// cluster is a fake one with the controller.
type cluster struct {
	*testing.T
	*fakeapi.Server               // of the controller
	client          client.Client // of others
	c               *Controller
}

// indexer hands indexes on to the builder of a fake client.
type indexer struct{ *fake.ClientBuilder }

func (i indexer) IndexField(_ context.Context, o client.Object, field string, values client.IndexerFunc) error {
	i.WithIndex(o, field, values)
	return nil
}

func newCluster(t *testing.T, objects ...client.Object) *cluster {
	t.Helper()
	b := fake.NewClientBuilder().WithScheme(fakeapi.Scheme(scheme.AddToScheme, apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme, v1alpha1.AddToScheme, v1.AddToScheme, v2.AddToScheme)).
		WithObjects(objects...).WithStatusSubresource(&v1.Operator{})
	for _, i := range indexes(indexer{b}, indexer{b}) {
		must.NoError(t, i.in.IndexField(t.Context(), i.object, i.name, i.values))
	}
	server := fakeapi.New(now, b)
	return &cluster{T: t, Server: server, client: server.Inner, c: &Controller{client: server, own: server, events: server.Events, clock: server.Clock}}
}

func (k *cluster) pass(operator string) error {
	_, err := k.c.Reconcile(k.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: operator}})
	return err
}

// settle makes passes until nothing is written any more, and returns all that was written.
func (k *cluster) settle(operator string) []string {
	k.Helper()
	return k.Settle(k, func() error { return k.pass(operator) })
}

// operator reads an Operator; nil when there is none.
func (k *cluster) operator(operator string) *v1.Operator {
	k.Helper()
	out := &v1.Operator{}
	err := k.client.Get(k.Context(), client.ObjectKey{Name: operator}, out)
	if client.IgnoreNotFound(err) != nil {
		k.Fatal(err)
	}
	if err != nil {
		return nil
	}
	return out
}

// refs are the components of an Operator, as "kind namespace/name".
func (k *cluster) refs(operator string) []string {
	k.Helper()
	o := k.operator(operator)
	if o == nil || o.Status.Components == nil {
		return nil
	}
	var out []string
	for _, r := range o.Status.Components.Refs {
		out = append(out, r.Kind+" "+r.Namespace+"/"+r.Name)
	}
	return out
}

// edit changes an object.
func edit[T client.Object](k *cluster, namespace, name string, o T, change func(T)) {
	k.Helper()
	if err := k.client.Get(k.Context(), client.ObjectKey{Namespace: namespace, Name: name}, o); err != nil {
		k.Fatal(err)
	}
	change(o)
	if err := k.client.Update(k.Context(), o); err != nil {
		k.Fatal(err)
	}
}

func subscription(csv, plan string) *v1alpha1.Subscription {
	s := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "sub", UID: "sub"}, Spec: &v1alpha1.SubscriptionSpec{Package: "etcd"}}
	s.Status.InstalledCSV = csv
	if plan != "" {
		s.Status.InstallPlanRef = &corev1.ObjectReference{Namespace: ns, Name: plan}
	}
	return s
}

func newCSV(name string, crds ...string) *v1alpha1.ClusterServiceVersion {
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID(name)}}
	for _, crd := range crds {
		csv.Spec.CustomResourceDefinitions.Owned = append(csv.Spec.CustomResourceDefinitions.Owned, v1alpha1.CRDDescription{Name: crd})
	}
	return csv
}

func plan(name string) *v1alpha1.InstallPlan {
	return &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID(name)}}
}

func crd(name string) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
}

func deployment(name string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID(name)}}
}

// ownedBy gives an object an owner reference to a ClusterServiceVersion.
func ownedBy[T client.Object](csv string, o T) T {
	o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "operators.coreos.com/v1alpha1", Kind: "ClusterServiceVersion", Name: csv, UID: types.UID(csv)}})
	return o
}

// ownerLabels gives an object the labels that name a ClusterServiceVersion as its owner.
func ownerLabels[T client.Object](csv string, o T) T {
	o.SetLabels(map[string]string{"olm.owner": csv, "olm.owner.namespace": ns, "olm.owner.kind": "ClusterServiceVersion"})
	return o
}

// with gives an object labels with empty values.
func with[T client.Object](o T, labels ...string) T {
	all := map[string]string{}
	for k, v := range o.GetLabels() {
		all[k] = v
	}
	for _, l := range labels {
		all[l] = ""
	}
	o.SetLabels(all)
	return o
}
