package ops

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func cluster(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	must.NoError(t, errors.Join(v1alpha1.AddToScheme(scheme), operatorsv1.AddToScheme(scheme), corev1.AddToScheme(scheme)))
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&v1alpha1.Subscription{}).Build()
}

func sampleCatalog(namespace, name string) client.Object {
	return &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func installGroup(name string) client.Object {
	return &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name}}
}

func TestPackage(t *testing.T) {
	existing := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "etcd"}, Spec: &v1alpha1.SubscriptionSpec{Package: "etcd", Channel: "stable"}}
	tests := map[string]struct {
		objects []client.Object
		change  func(*InstallOptions)
		want    []string
		err     string
	}{
		"everything is missing":            {objects: []client.Object{sampleCatalog("olm", "c")}, want: []string{"Namespace ops", "OperatorGroup ops", "Subscription etcd"}},
		"a group is kept":                  {objects: []client.Object{sampleCatalog("olm", "c"), installGroup("mine")}, want: []string{"Namespace ops", "Subscription etcd"}},
		"a catalog of the namespace":       {objects: []client.Object{sampleCatalog("ops", "c")}, want: []string{"Namespace ops", "OperatorGroup ops", "Subscription etcd"}},
		"the same again":                   {objects: []client.Object{sampleCatalog("olm", "c"), installGroup("mine"), existing}, want: []string{"Namespace ops"}},
		"a Subscription to something else": {objects: []client.Object{sampleCatalog("olm", "c"), existing}, change: func(o *InstallOptions) { o.Channel = "alpha" }, err: "not the one that would be created"},
		"it is there as a dependency":      {objects: []client.Object{sampleCatalog("olm", "c"), &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "etcd-stable-c-olm"}, Spec: &v1alpha1.SubscriptionSpec{Package: "etcd"}}}, err: "Subscription ops/etcd-stable-c-olm already"},
		"approval that differs":            {objects: []client.Object{sampleCatalog("olm", "c"), existing}, change: func(o *InstallOptions) { o.Manual = true }, err: "not the one that would be created"},
		"a starting version differs":       {objects: []client.Object{sampleCatalog("olm", "c"), existing}, change: func(o *InstallOptions) { o.StartingCSV = "etcd.v1" }, err: "not the one that would be created"},
		"another package of the name":      {objects: []client.Object{sampleCatalog("olm", "c"), &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "etcd"}, Spec: &v1alpha1.SubscriptionSpec{Package: "other"}}}, err: "not the one that would be created"},
		"no catalog":                       {err: "there is none: create one first"},
		"two catalogs":                     {objects: []client.Object{sampleCatalog("olm", "a"), sampleCatalog("olm", "b")}, err: "name the CatalogSource with --catalog; in view of namespace ops there is olm/a, olm/b"},
		"two catalogs, one named":          {objects: []client.Object{sampleCatalog("olm", "a"), sampleCatalog("olm", "b")}, change: func(o *InstallOptions) { o.Catalog = "b" }, want: []string{"Namespace ops", "OperatorGroup ops", "Subscription etcd"}},
		"a catalog that is not there":      {objects: []client.Object{sampleCatalog("olm", "a")}, change: func(o *InstallOptions) { o.Catalog = "z" }, err: "there is no CatalogSource z in view of namespace ops; there is olm/a"},
		"two groups":                       {objects: []client.Object{sampleCatalog("olm", "c"), installGroup("a"), installGroup("b")}, err: "namespace ops has 2 OperatorGroups"},
		"targets, but there is a group":    {objects: []client.Object{sampleCatalog("olm", "c"), installGroup("a")}, change: func(o *InstallOptions) { o.Targets = []string{"x"} }, err: "leave out --watch"},
		"the namespace is the global one":  {objects: []client.Object{sampleCatalog("olm", "c")}, change: func(o *InstallOptions) { o.Namespace = "olm" }, want: []string{"Namespace olm", "OperatorGroup olm", "Subscription etcd"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := InstallOptions{Package: "etcd", Namespace: "ops", GlobalNamespace: "olm"}
			if test.change != nil {
				test.change(&o)
			}
			created, err := InstallPackage(t.Context(), cluster(t, test.objects...), o)
			if test.err != "" {
				must.Fail(t, "the call", err, test.err)
				return
			}
			must.NoError(t, err)
			must.Equal(t, "created", created, test.want)
		})
	}
}

func TestWait(t *testing.T) {
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "etcd"}}
	c := cluster(t, sub)
	set := func(status corev1.ConditionStatus, message string) {
		sub.Status.Conditions = []v1alpha1.SubscriptionCondition{{Type: "Ready", Status: status, Message: message}}
		sub.Status.InstalledCSV = "etcd.v1"
		must.NoError(t, c.Status().Update(t.Context(), sub))
	}
	set("False", "fetching etcd.v1")
	var told []string
	name, err := WaitPackage(t.Context(), c, client.ObjectKeyFromObject(sub), func(_, message string) {
		told = append(told, message)
		set("True", "runs")
	})
	if err != nil || name != "etcd.v1" || len(told) != 1 || told[0] != "fetching etcd.v1" {
		t.Errorf("Wait gave %q, %v and told %v", name, err, told)
	}
	set("False", "no such channel")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := WaitPackage(ctx, c, client.ObjectKeyFromObject(sub), func(string, string) {}); err == nil || !strings.Contains(err.Error(), "no such channel") {
		t.Errorf("when time is up: %v", err)
	}
}
