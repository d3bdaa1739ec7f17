package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// removalCluster is one whose garbage collector takes away what belongs to what is deleted.
func removalCluster(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	must.NoError(t, errors.Join(v1alpha1.AddToScheme(scheme), operatorsv1.AddToScheme(scheme), olmv1.AddToScheme(scheme), clientgoscheme.AddToScheme(scheme),
		apiextensionsv1.AddToScheme(scheme), apiregistrationv1.AddToScheme(scheme)))
	kite := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Kite"}
	scheme.AddKnownTypeWithName(kite, &unstructured.Unstructured{})
	scheme.AddKnownTypeWithName(kite.GroupVersion().WithKind("KiteList"), &unstructured.UnstructuredList{})
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			live := o.DeepCopyObject().(client.Object)
			if err := c.Get(ctx, client.ObjectKeyFromObject(o), live); err != nil {
				return err
			}
			if err := c.Delete(ctx, o, options...); err != nil {
				return err
			}
			return collect(ctx, c, live.GetUID())
		},
	}).Build()
}

// collect deletes what an owner owned.
func collect(ctx context.Context, c client.Client, owner types.UID) error {
	for _, list := range []client.ObjectList{&appsv1.DeploymentList{}, &v1alpha1.InstallPlanList{}, &rbacv1.ClusterRoleList{}, &olmv1.ClusterObjectSetList{}, &apiextensionsv1.CustomResourceDefinitionList{}, &corev1.ServiceList{}} {
		if err := c.List(ctx, list); err != nil {
			return err
		}
		items, err := itemsOf(list)
		if err != nil {
			return err
		}
		for _, o := range items {
			for _, ref := range o.GetOwnerReferences() {
				if ref.UID == owner {
					if err := c.Delete(ctx, o); err != nil {
						return err
					}
					if err := collect(ctx, c, o.GetUID()); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func itemsOf(list client.ObjectList) ([]client.Object, error) {
	items, err := meta.ExtractList(list)
	var out []client.Object
	for _, i := range items {
		out = append(out, i.(client.Object))
	}
	return out, err
}

func owned(o client.Object, kind, name string, uid types.UID) client.Object {
	yes := true
	o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: olmv1.GroupVersion.String(), Kind: kind, Name: name, UID: uid, Controller: &yes}})
	return o
}

func definition(name string, brought bool) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
	crd.Spec = apiextensionsv1.CustomResourceDefinitionSpec{Group: "example.com", Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Kite", Plural: "kites"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true}}}
	if brought {
		crd.Annotations = map[string]string{v1alpha1.InstalledAlongsideAnnotationPrefix + "x": "ops/kite.v1"}
	}
	return crd
}

func kite(name string, finalizers ...string) client.Object {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion("example.com/v1")
	u.SetKind("Kite")
	u.SetNamespace("sky")
	u.SetName(name)
	u.SetFinalizers(finalizers)
	return u
}

// classic is an operator of the v0 API.
func classic(change func(*v1alpha1.ClusterServiceVersion)) []client.Object {
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "my-kite", UID: "sub"}, Spec: &v1alpha1.SubscriptionSpec{Package: "kite"}}
	sub.Status.InstalledCSV = "kite.v1"
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite.v1", UID: "csv"}}
	csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: "kites.example.com", Kind: "Kite", Version: "v1"}}
	if change != nil {
		change(csv)
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "kite-role", Labels: bundle.OwnerLabels(csv)}}
	role.OwnerReferences = []metav1.OwnerReference{{UID: "csv", APIVersion: "x/v1", Kind: "ClusterServiceVersion", Name: "kite.v1"}} // the manager deletes it
	return []client.Object{sub, csv, role,
		owned(&v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "install-1"}}, "Subscription", "my-kite", "sub"),
		owned(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite", UID: "deployment"}}, "ClusterServiceVersion", "kite.v1", "csv"),
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "somebody's"}},
		&operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "group"}},
		&operatorsv1.Operator{ObjectMeta: metav1.ObjectMeta{Name: "kite.ops"}},
	}
}

func shown(t *testing.T, r *Removal) string {
	t.Helper()
	var b strings.Builder
	must.NoError(t, r.Write(&b))
	return b.String()
}

func there(t *testing.T, c client.Client, o client.Object) bool {
	t.Helper()
	err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return !apierrors.IsNotFound(err)
}

// TestSharedObjectsStay: what another ClusterServiceVersion that exists owns as well is not removed, and not waited for.
func TestSharedObjectsStay(t *testing.T) {
	account := func(name, other string, uid types.UID) client.Object {
		a := owned(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name}}, "ClusterServiceVersion", "kite.v1", "csv")
		a.SetOwnerReferences(append(a.GetOwnerReferences(), metav1.OwnerReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind, Name: other, UID: uid}))
		return a
	}
	hawk := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "hawk.v1", UID: "hawk"}}
	objects := append(classic(nil), hawk, account("shared", "hawk.v1", "hawk"), account("recreated", "hawk.v1", "before"), account("left", "gone.v1", "gone"))
	r := must.Value(UninstallSubscription(t.Context(), removalCluster(t, objects...), UninstallOptions{Name: "kite", Namespace: "ops"}))(t)
	goes := map[string]bool{}
	for _, ref := range r.Goes {
		goes[ref.Name] = true
	}
	if goes["shared"] || !goes["recreated"] || !goes["left"] {
		t.Errorf("what goes: %v", r.Goes)
	}
	if text := shown(t, r); !strings.Contains(text, "it belongs to ClusterServiceVersion ops/hawk.v1 as well") {
		t.Error(text)
	}
}

const classicText = `Subscription ops/my-kite, version 0.0.0

Goes:
  KIND                   NAMESPACE  NAME
  ClusterRole            -          kite-role
  ClusterServiceVersion  ops        kite.v1
  Deployment             ops        kite
  InstallPlan            ops        install-1
  Subscription           ops        my-kite

CustomResourceDefinitions:
  NAME               CUSTOM RESOURCES  FINALIZERS      WHAT HAPPENS
  kites.example.com  2                 example.com/up  stays: it has custom resources; to delete them, too, add --delete-crd kites.example.com

Stays:
  KIND           NAMESPACE  NAME      WHY
  Namespace      -          ops       it may hold other things
  Operator       -          kite.ops  it lists the CustomResourceDefinitions that stay
  OperatorGroup  ops        group     operators of the namespace share it

warning: custom resources of kites.example.com have finalizers (example.com/up), which no controller removes once the operator is gone: deleting them later waits for ever
`

func TestSubscription(t *testing.T) {
	c := removalCluster(t, append(classic(nil), definition("kites.example.com", true), kite("a"), kite("b", "example.com/up"))...)
	for _, name := range []string{"my-kite", "kite", "kite.v1"} {
		r := must.Value(UninstallSubscription(t.Context(), c, UninstallOptions{Name: name, Namespace: "ops"}))(t)
		if diff := cmp.Diff(classicText, shown(t, r)); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", name, diff)
		}
	}
	r := must.Value(UninstallSubscription(t.Context(), c, UninstallOptions{Name: "kite", Namespace: "ops"}))(t)
	var told []string
	must.NoError(t, r.Run(t.Context(), c, func(what string) { told = append(told, what) }))
	must.Equal(t, "told", told, []string{"deleted Subscription ops/my-kite", "deleted ClusterServiceVersion ops/kite.v1"})
	if !there(t, c, kite("a")) || !there(t, c, definition("kites.example.com", true)) || !there(t, c, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "somebody's"}}) {
		t.Error("more has gone than was told")
	}
}

// TestUpgradeUnderWay: while an operator is upgraded, the version that is replaced and the one that replaces it both go, by whatever name.
func TestUpgradeUnderWay(t *testing.T) {
	version := func(name, replaces string) *v1alpha1.ClusterServiceVersion {
		csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name, UID: types.UID(name)}}
		csv.Spec.Replaces = replaces
		csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: "kites.example.com", Kind: "Kite", Version: "v1"}}
		return csv
	}
	for _, test := range []struct{ name, installed, current string }{
		{"my-kite", "kite.v1", "kite.v3"}, {"my-kite", "kite.v3", ""}, {"kite.v1", "kite.v2", "kite.v3"}, {"kite.v2", "kite.v1", "kite.v2"}, {"kite.v3", "", ""},
	} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			stranger := version("stranger.v1", "stranger.v0")
			stranger.Spec.CustomResourceDefinitions.Owned = nil
			objects := append(classic(nil), version("kite.v2", "kite.v1"), version("kite.v3", "kite.v2"), stranger, definition("kites.example.com", true))
			sub := objects[0].(*v1alpha1.Subscription)
			sub.Status.InstalledCSV, sub.Status.CurrentCSV = test.installed, test.current
			c := removalCluster(t, objects...)
			r := must.Value(UninstallSubscription(t.Context(), c, UninstallOptions{Name: test.name, Namespace: "ops"}))(t)
			if len(r.CRDs) != 1 || !r.CRDs[0].Goes {
				t.Errorf("versions of one operator are no strangers to each other: %+v", r.CRDs)
			}
			must.Equal(t, "what was cut short goes on with", r.Again(), "kite.v1")
			var told []string
			must.NoError(t, r.Run(t.Context(), c, func(what string) { told = append(told, what) }))
			var want []string
			if test.installed != "" {
				want = append(want, "deleted Subscription ops/my-kite")
			}
			want = append(want, "deleted ClusterServiceVersion ops/kite.v3", "deleted ClusterServiceVersion ops/kite.v2", "deleted ClusterServiceVersion ops/kite.v1",
				"deleted CustomResourceDefinition kites.example.com")
			must.Equal(t, "told", slices.DeleteFunc(told, func(s string) bool { return s == "deleted Operator kite.ops" }), want)
			if !there(t, c, stranger) {
				t.Error("another operator has gone")
			}
		})
	}
}

// TestWholeSubscription: with its definition named, nothing of the operator is left, and what is not its own stays.
func TestWholeSubscription(t *testing.T) {
	c := removalCluster(t, append(classic(nil), definition("kites.example.com", true), kite("a"))...)
	r := must.Value(UninstallSubscription(t.Context(), c, UninstallOptions{Name: "my-kite", Namespace: "ops", DeleteCRDs: []string{"kites.example.com"}}))(t)
	var told []string
	must.NoError(t, r.Run(t.Context(), c, func(what string) { told = append(told, what) }))
	want := []string{"deleted Subscription ops/my-kite", "deleted the custom resources of kites.example.com", "deleted ClusterServiceVersion ops/kite.v1",
		"deleted CustomResourceDefinition kites.example.com", "deleted Operator kite.ops"}
	must.Equal(t, "custom resources go while the operator runs", told, want)
	if there(t, c, kite("a")) || there(t, c, definition("kites.example.com", true)) || there(t, c, &operatorsv1.Operator{ObjectMeta: metav1.ObjectMeta{Name: "kite.ops"}}) {
		t.Error("something is left")
	}
}

func TestDefinitions(t *testing.T) {
	other := func(change func(*v1alpha1.CustomResourceDefinitions)) *v1alpha1.ClusterServiceVersion {
		csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "other", UID: "other"}}
		change(&csv.Spec.CustomResourceDefinitions)
		return csv
	}
	mine := []v1alpha1.CRDDescription{{Name: "kites.example.com"}}
	for name, test := range map[string]struct {
		objects []client.Object
		options UninstallOptions
		goes    bool
		why     string
		err     string
	}{
		"empty":            {objects: []client.Object{definition("kites.example.com", true)}, goes: true, why: "it has no custom resources"},
		"kept":             {objects: []client.Object{definition("kites.example.com", true)}, options: UninstallOptions{KeepCRDs: true}, why: "you keep them"},
		"used":             {objects: []client.Object{definition("kites.example.com", true), kite("a")}, why: "it has custom resources"},
		"named":            {objects: []client.Object{definition("kites.example.com", true), kite("a")}, options: UninstallOptions{DeleteCRDs: []string{"kites.example.com"}}, goes: true, why: "you named it"},
		"before":           {objects: []client.Object{definition("kites.example.com", false)}, why: "it was there before"},
		"another's":        {objects: []client.Object{definition("kites.example.com", true), other(func(d *v1alpha1.CustomResourceDefinitions) { d.Owned = mine })}, why: "it belongs to dev/other, too"},
		"needed":           {objects: []client.Object{definition("kites.example.com", true), other(func(d *v1alpha1.CustomResourceDefinitions) { d.Required = mine })}, why: "dev/other needs it"},
		"needed and named": {objects: []client.Object{definition("kites.example.com", true), other(func(d *v1alpha1.CustomResourceDefinitions) { d.Required = mine })}, options: UninstallOptions{DeleteCRDs: []string{"kites.example.com"}}, err: "it has to stay: dev/other needs it"},
		"unknown":          {objects: []client.Object{definition("kites.example.com", true)}, options: UninstallOptions{DeleteCRDs: []string{"a.b"}}, err: "has none of that name; it has kites.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			test.options.Name, test.options.Namespace = "my-kite", "ops"
			r, err := UninstallSubscription(t.Context(), removalCluster(t, append(classic(nil), test.objects...)...), test.options)
			if test.err != "" {
				must.Fail(t, "the call", err, test.err)
				return
			}
			if err != nil || len(r.CRDs) != 1 || r.CRDs[0].Goes != test.goes || !strings.Contains(r.CRDs[0].Why, test.why) {
				t.Errorf("%+v, %v", r, err)
			}
			advice := ""
			if name == "used" {
				advice = "to delete them, too, add --delete-crd kites.example.com"
			}
			must.Equal(t, "what to do with the commands", r.CRDs[0].Advice, advice)
			must.Lack(t, "the reason", r.CRDs[0].Why, "--")
		})
	}
}

// TestStuck: custom resources whose finalizers nobody takes away are told, and the operator stays.
func TestStuck(t *testing.T) {
	c := removalCluster(t, append(classic(nil), definition("kites.example.com", true), kite("a", "example.com/up"))...)
	r, err := UninstallSubscription(t.Context(), c, UninstallOptions{Name: "my-kite", Namespace: "ops", DeleteCRDs: []string{"kites.example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if err = r.Run(ctx, c, func(string) {}); err == nil || !strings.Contains(err.Error(), "waits for its finalizers example.com/up") {
		t.Errorf("%v", err)
	}
	if !there(t, c, &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite.v1"}}) {
		t.Error("the operator is gone before its custom resources are")
	}
	again, err := UninstallSubscription(t.Context(), c, UninstallOptions{Name: r.Again(), Namespace: "ops", DeleteCRDs: []string{"kites.example.com"}})
	if err != nil || again.Operator.Name != "kite.v1" || again.Again() != "kite.v1" {
		t.Errorf("a removal of %s does not go on: %+v, %v", r.Again(), again, err)
	}
}

func TestNothingOfTheName(t *testing.T) {
	c := removalCluster(t)
	if _, err := UninstallSubscription(t.Context(), c, UninstallOptions{Name: "x", Namespace: "ops"}); !errors.Is(err, errNone) {
		t.Errorf("%v", err)
	}
	if _, err := UninstallExtension(t.Context(), c, UninstallOptions{Name: "x"}); !errors.Is(err, errNone) {
		t.Errorf("%v", err)
	}
}

// TestExtension removes a ClusterExtension whose definition has custom resources: it stays, belongs to nobody, and is converted no more.
func TestExtension(t *testing.T) {
	crd := definition("kites.example.com", false)
	path := "/convert"
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
		ConversionReviewVersions: []string{"v1"}, ClientConfig: &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{Namespace: "ops", Name: "kite", Path: &path}}}}
	service := &corev1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite"}}
	foreign := &corev1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "foreign"}}
	var objects []*unstructured.Unstructured
	for _, o := range []client.Object{crd, service, foreign} {
		content := must.Value(runtime.DefaultUnstructuredConverter.ToUnstructured(o))(t)
		u := &unstructured.Unstructured{Object: content}
		if o == client.Object(crd) {
			u.SetAPIVersion("apiextensions.k8s.io/v1")
			u.SetKind("CustomResourceDefinition")
		}
		objects = append(objects, u)
	}
	rev := must.Value(revision.Build(revision.Options{Extension: revision.Extension{Name: "kite", UID: "ext", Namespace: "ops"}, Number: 1, SystemNamespace: "olm", Objects: objects}))(t)
	rev.Set.UID = "set"
	ext := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "kite", UID: "ext"}}
	ext.Spec.Namespace = "ops"
	all := []client.Object{ext, rev.Set, kite("a"), owned(crd, "ClusterObjectSet", "kite-1", "set"), owned(service, "ClusterObjectSet", "kite-1", "set"), foreign}
	for _, s := range rev.Secrets {
		all = append(all, s)
	}
	c := removalCluster(t, all...)
	r := must.Value(UninstallExtension(t.Context(), c, UninstallOptions{Name: "kite"}))(t)
	want := `ClusterExtension kite

Goes:
  KIND              NAMESPACE  NAME
  ClusterExtension  -          kite
  ClusterObjectSet  -          kite-1
  Service           ops        kite

CustomResourceDefinitions:
  NAME               CUSTOM RESOURCES  FINALIZERS  WHAT HAPPENS
  kites.example.com  1                 -           stays, and is converted no more: it has custom resources; to delete them, too, add --delete-crd kites.example.com

Stays:
  KIND       NAMESPACE  NAME     WHY
  Namespace  -          ops      it may hold other things
  Service    ops        foreign  nothing says that it belongs to the extension
`
	must.Equal(t, "shown", shown(t, r), want)
	var told []string
	must.NoError(t, r.Run(t.Context(), c, func(what string) { told = append(told, what) }))
	must.Equal(t, "told", told, []string{"kept CustomResourceDefinition kites.example.com", "deleted ClusterExtension kite"})
	left := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "kites.example.com"}}
	if !there(t, c, left) || len(left.OwnerReferences) != 0 || left.Spec.Conversion.Strategy != apiextensionsv1.NoneConverter || left.Spec.Conversion.Webhook != nil || !there(t, c, kite("a")) || !there(t, c, foreign) {
		t.Errorf("%+v", left)
	}
}

// TestSharedPlan: an InstallPlan that another Subscription has, too, stays, and so does the Operator that lists it.
func TestSharedPlan(t *testing.T) {
	shared := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "shared"}}
	shared.OwnerReferences = []metav1.OwnerReference{{APIVersion: "x/v1", Kind: "Subscription", Name: "my-kite", UID: "sub"}, {APIVersion: "x/v1", Kind: "Subscription", Name: "other", UID: "other"}}
	r := must.Value(UninstallSubscription(t.Context(), removalCluster(t, append(classic(nil), shared)...), UninstallOptions{Name: "kite", Namespace: "ops"}))(t)
	text := shown(t, r)
	must.Contain(t, "text", text, "shared    other Subscriptions have it, too", "kite.ops  it lists the InstallPlan that stays")
}

// modern is an operator of the v1 API at revision 1, with a definition if there is one, and with some properties.
func modern(t *testing.T, name string, crd *apiextensionsv1.CustomResourceDefinition, properties string) []client.Object {
	t.Helper()
	ext := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name + "-uid")}}
	ext.Spec.Namespace = "ops"
	objects := []*unstructured.Unstructured{{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": "ops"}}}}
	if crd != nil {
		content := must.Value(runtime.DefaultUnstructuredConverter.ToUnstructured(crd))(t)
		u := &unstructured.Unstructured{Object: content}
		u.SetAPIVersion("apiextensions.k8s.io/v1")
		u.SetKind("CustomResourceDefinition")
		objects = append(objects, u)
	}
	rev := must.Value(revision.Build(revision.Options{Extension: revision.Extension{Name: name, UID: ext.UID, Namespace: "ops"}, Number: 1, SystemNamespace: "olm", Objects: objects,
		Annotations: map[string]string{olmv1.PropertiesKey: properties, olmv1.BundleNameKey: name + ".v1.0.0", olmv1.BundleVersionKey: "1.0.0",
			snapshot.PropertiesKey: `[{"type":"olm.package","value":{"packageName":"` + name + `","version":"1.0.0"}}]`}}))(t)
	rev.Set.UID = types.UID(name + "-set")
	all := []client.Object{ext, rev.Set}
	for _, s := range rev.Secrets {
		all = append(all, s)
	}
	if crd != nil {
		all = append(all, owned(crd, "ClusterObjectSet", rev.Set.Name, rev.Set.UID))
	}
	return all
}

// TestConsent: the manager is told which definitions the user named, before it is asked to remove the extension.
func TestConsent(t *testing.T) {
	for _, named := range []bool{false, true} {
		crd := definition("kites.example.com", false)
		crd.Spec.Versions[0].Served = false
		said := ""
		c := interceptor.NewClient(removalCluster(t, modern(t, "kite", crd, "")...), interceptor.Funcs{
			Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
				if o.GetName() == "kite" {
					ext := &olmv1.ClusterExtension{}
					if err := c.Get(ctx, client.ObjectKeyFromObject(o), ext); err != nil {
						return err
					}
					said = ext.Annotations[revision.DeleteCRDsKey]
				}
				return c.Delete(ctx, o, options...)
			}})
		o := UninstallOptions{Name: "kite"}
		want := ""
		if named {
			want = "kites.example.com"
			o.DeleteCRDs = []string{want}
		}
		r := must.Value(UninstallExtension(t.Context(), c, o))(t)
		must.NoError(t, r.Run(t.Context(), c, func(string) {}))
		must.Equal(t, "the extension says", said, want)
	}
}

// TestNeededOfExtension: a definition of a ClusterExtension that another operator needs, of either API, stays, also when it is named.
func TestNeededOfExtension(t *testing.T) {
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "other", UID: "other"}}
	csv.Spec.CustomResourceDefinitions.Required = []v1alpha1.CRDDescription{{Name: "kites.example.com"}}
	const kind = `{"group": "example.com", "version": "v1", "kind": "Kite"}`
	for name, test := range map[string]struct {
		others []client.Object
		why    string
	}{
		"nobody":                             {},
		"a ClusterServiceVersion":            {others: []client.Object{csv}, why: "dev/other needs it"},
		"a ClusterExtension":                 {others: modern(t, "string", nil, `[{"type": "olm.gvk.required", "value": `+kind+`}]`), why: "ClusterExtension string needs it"},
		"a constraint":                       {others: modern(t, "string", nil, `[{"type": "olm.constraint", "value": {"all": {"constraints": [{"gvk": `+kind+`}]}}}]`), why: "ClusterExtension string needs it"},
		"properties that cannot be read":     {others: modern(t, "string", nil, `[{"type": "olm.gvk.required", "value": `+kind), why: "ClusterExtension string needs it"},
		"a ClusterExtension that has it too": {others: modern(t, "string", nil, `[{"type": "olm.gvk", "value": `+kind+`}]`)},
		"one that needs something else":      {others: modern(t, "string", nil, `[{"type": "olm.gvk.required", "value": {"group": "example.com", "version": "v1", "kind": "String"}}]`)},
	} {
		t.Run(name, func(t *testing.T) {
			c := removalCluster(t, append(modern(t, "kite", definition("kites.example.com", false), ""), test.others...)...)
			r, err := UninstallExtension(t.Context(), c, UninstallOptions{Name: "kite"})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.CRDs) != 1 || r.CRDs[0].Goes != (test.why == "") || !strings.Contains(r.CRDs[0].Why, test.why) {
				t.Errorf("%+v", r.CRDs)
			}
			_, err = UninstallExtension(t.Context(), c, UninstallOptions{Name: "kite", DeleteCRDs: []string{"kites.example.com"}})
			if refused := err != nil && strings.Contains(err.Error(), "it has to stay: "+test.why); refused != (test.why != "") {
				t.Errorf("named: %v", err)
			}
			must.NoError(t, r.Run(t.Context(), c, func(string) {}))
			if there(t, c, definition("kites.example.com", false)) != (test.why != "") {
				t.Error("it is not as was told")
			}
		})
	}
}

// TestDependenciesOfExtension: what was installed for the needs of a ClusterExtension, and for the needs of that, is told with its
// definitions, and with the custom resources that would be lost.
func TestDependenciesOfExtension(t *testing.T) {
	dependency := func(name, of string, crd *apiextensionsv1.CustomResourceDefinition) []client.Object {
		objects := modern(t, name, crd, "")
		objects[0].(*olmv1.ClusterExtension).Spec.Source.Catalog = &olmv1.CatalogFilter{PackageName: name}
		objects[0].SetLabels(map[string]string{"operators.fairlead.dev/dependency": "true"})
		objects[0].SetAnnotations(map[string]string{"operators.fairlead.dev/required-by": of})
		return objects
	}
	needing := func(objects []client.Object, pkg string) []client.Object {
		objects[1].SetAnnotations(map[string]string{olmv1.BundleNameKey: "b", olmv1.BundleVersionKey: "1.0.0",
			snapshot.PropertiesKey: `[{"type":"olm.package.required","value":{"packageName":"` + pkg + `","versionRange":">=1.0.0"}}]`})
		return objects
	}
	threads := definition("threads.example.com", false)
	threads.Spec.Names.Kind, threads.Spec.Names.Plural = "Thread", "threads"
	objects := slices.Concat(modern(t, "kite", nil, ""), dependency("string", "kite", threads), dependency("cotton", "string", nil), dependency("data", "kite", definition("kites.example.com", false)),
		dependency("shared", "kite", nil), needing(modern(t, "bird", nil, ""), "shared"),
		dependency("kite-for-others", "bird", nil), dependency("loop", "loop", nil), []client.Object{kite("a")})
	r := must.Value(UninstallExtension(t.Context(), removalCluster(t, objects...), UninstallOptions{Name: "kite"}))(t)
	want := `ClusterExtension kite

Goes:
  KIND              NAMESPACE  NAME
  ClusterExtension  -          kite
  ClusterObjectSet  -          kite-1

The manager removes these, too, as nothing else needs them:
  KIND                      NAME                 CUSTOM RESOURCES  INSTALLED FOR
  ClusterExtension          string               -                 kite
  CustomResourceDefinition  threads.example.com  0                 kite
  ClusterExtension          cotton               -                 string

Stays:
  KIND              NAMESPACE  NAME    WHY
  ClusterExtension  -          data    CustomResourceDefinition kites.example.com: it has 1 custom resource; it is an extension like any other from then on
  ClusterExtension  -          shared  ClusterExtension bird needs it, or may
  Namespace         -          ops     it may hold other things
`
	must.Equal(t, "shown", shown(t, r), want)
}

// TestUnserved: of a definition that serves no version nobody can tell whether it has custom resources. It stays unless it is named.
func TestUnserved(t *testing.T) {
	for _, named := range []bool{false, true} {
		crd := definition("kites.example.com", true)
		crd.Spec.Versions[0].Served = false
		c := removalCluster(t, append(classic(nil), crd)...)
		o := UninstallOptions{Name: "my-kite", Namespace: "ops"}
		want := "stays: its custom resources cannot be counted: no version of the definition is served"
		if named {
			o.DeleteCRDs = []string{"kites.example.com"}
			want = "goes with its custom resources: you named it"
		}
		r := must.Value(UninstallSubscription(t.Context(), c, o))(t)
		if text := shown(t, r); !strings.Contains(text, "unknown") || !strings.Contains(text, want) {
			t.Errorf("the text has no %q:\n%s", want, text)
		}
		must.NoError(t, r.Run(t.Context(), c, func(string) {}))
		if there(t, c, crd) == named {
			t.Errorf("named %t: it is not as was told", named)
		}
	}
}

// TestUninstallCountsWithoutEstimate: an API server need not estimate how many custom resources follow the first ones.
func TestUninstallCountsWithoutEstimate(t *testing.T) {
	for have, want := range map[int]string{3: "3", 500: "500", 502: "502", 5000: "at least 1500"} {
		inner := removalCluster(t, append(classic(nil), definition("kites.example.com", true))...)
		c := interceptor.NewClient(inner, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			kites, is := list.(*metav1.PartialObjectMetadataList)
			if !is || kites.Kind != "KiteList" {
				return c.List(ctx, list, options...)
			}
			var o client.ListOptions
			o.ApplyOptions(options)
			from, _ := strconv.Atoi(o.Continue) // the first page has none
			to := min(from+int(o.Limit), have)
			kites.Items = make([]metav1.PartialObjectMetadata, to-from)
			if to < have {
				kites.Continue = strconv.Itoa(to)
			}
			return nil
		}})
		r := must.Value(UninstallSubscription(t.Context(), c, UninstallOptions{Name: "kite", Namespace: "ops"}))(t)
		must.Equal(t, "number of custom resources", r.CRDs[0].instances(), want)
	}
}
