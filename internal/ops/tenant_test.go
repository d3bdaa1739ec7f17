package ops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestTenantUninstalls: what a user of one namespace may not see stays, or is left to the manager, and is noted; nothing is forbidden on the way.
func TestTenantUninstalls(t *testing.T) {
	inner := removalCluster(t, append(classic(nil), definition("kites.example.com", true), kite("a"))...)
	c := fakeapi.Tenant(inner, "ops")
	r := must.Value(UninstallSubscription(t.Context(), c, UninstallOptions{Name: "kite", Namespace: "ops"}))(t)
	text := shown(t, r)
	must.Contain(t, "what goes", text, "Deployment             ops        kite\n", "kites.example.com  unknown           -           is not deleted: you may not see it: whether it is there, what it has and who else needs it is not known\n",
		"\nnote: Roles, RoleBindings, OperatorConditions, ClusterRoles and 5 more cannot be listed as user dev: the manager removes those of the operator, and that is not waited for\n")
	must.Lack(t, "what goes", text, "kite-role", "forbidden")
	var told []string
	must.NoError(t, r.Run(t.Context(), c, func(what string) { told = append(told, what) }))
	must.Equal(t, "told", told, []string{"deleted Subscription ops/my-kite", "deleted ClusterServiceVersion ops/kite.v1"})
	if !there(t, inner, definition("kites.example.com", true)) || !there(t, inner, kite("a")) {
		t.Error("what the user may not see has gone")
	}
	_, err := UninstallSubscription(t.Context(), fakeapi.Tenant(removalCluster(t, classic(nil)...), "ops"), UninstallOptions{Name: "kite", Namespace: "ops", DeleteCRDs: []string{"kites.example.com"}})
	must.Fail(t, "a definition that the user may not see", err, "you may not see it: whether it is there")
}

// TestTenantInstalls: the catalog is the one that is known to have the package, and what the user may not create is for others to create.
func TestTenantInstalls(t *testing.T) {
	for name, test := range map[string]struct {
		objects []client.Object
		change  func(*InstallOptions)
		want    string
		err     []string
	}{
		"known to have it":     {[]client.Object{installGroup("g")}, func(o *InstallOptions) { o.Offered = []string{"demo/c"} }, "demo/c", nil},
		"of two, one is named": {[]client.Object{installGroup("g")}, func(o *InstallOptions) { o.Offered, o.Catalog = []string{"demo/c", "olm/d"}, "d" }, "olm/d", nil},
		"named, not known":     {[]client.Object{installGroup("g")}, func(o *InstallOptions) { o.Catalog = "olm/e" }, "olm/e", nil},
		"its own":              {[]client.Object{installGroup("g"), sampleCatalog("ops", "mine")}, func(o *InstallOptions) { o.Catalog = "mine" }, "ops/mine", nil},
		"nothing is known": {[]client.Object{installGroup("g")}, func(*InstallOptions) {}, "",
			[]string{"install package etcd: CatalogSources of namespace olm cannot be listed as user dev; name the one to subscribe to with --catalog NAMESPACE/NAME"}},
		"named without its namespace": {[]client.Object{installGroup("g")}, func(o *InstallOptions) { o.Catalog = "e" }, "",
			[]string{"install package etcd from catalog e: CatalogSources of namespace olm cannot be listed as user dev"}},
		"no group": {nil, func(o *InstallOptions) { o.Offered = []string{"demo/c"} }, "",
			[]string{"install package etcd: it needs OperatorGroup ops/ops, which is missing, and you may not create it: ask an administrator of the cluster to do so", `User "dev" cannot create`}},
	} {
		t.Run(name, func(t *testing.T) {
			objects := append(test.objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ops"}})
			inner := cluster(t, objects...).(client.WithWatch)
			o := InstallOptions{Package: "etcd", Namespace: "ops", GlobalNamespace: "olm", DefaultChannel: "stable"}
			test.change(&o)
			a, err := InstallPackage(t.Context(), fakeapi.Tenant(inner, "ops"), o)
			if test.err != nil {
				must.Fail(t, "install", err, test.err...)
				must.Equal(t, "written", written[v1alpha1.SubscriptionList](t, inner), 0)
				return
			}
			must.NoError(t, err)
			must.Equal(t, "catalog", a.Subscription.Spec.CatalogSourceNamespace+"/"+a.Subscription.Spec.CatalogSource, test.want)
			must.Equal(t, "created", a.Created, []string{"Subscription etcd"})
		})
	}
}

// tenants is a cluster with an operator in namespace ops, from a catalog of namespace olm.
func tenants() client.WithWatch {
	scheme := fakeapi.Scheme(appsv1.AddToScheme, corev1.AddToScheme, v1alpha1.AddToScheme, operatorsv1.AddToScheme, olmv1.AddToScheme, packagesv1.AddToScheme)
	group := &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "group"}, Status: operatorsv1.OperatorGroupStatus{Namespaces: []string{"ops"}}}
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite"},
		Spec: &v1alpha1.SubscriptionSpec{Package: "kite", Channel: "stable", CatalogSource: "cat", CatalogSourceNamespace: "olm"}}
	sub.Status.State, sub.Status.InstalledCSV = v1alpha1.SubscriptionStateAtLatest, "kite.v1"
	sub.Status.Conditions = []v1alpha1.SubscriptionCondition{{Type: "Ready", Status: "True"}}
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite.v1"}}
	csv.Status.Phase = v1alpha1.CSVPhaseSucceeded
	offered := &packagesv1.PackageManifest{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite"},
		Status: packagesv1.PackageManifestStatus{PackageName: "kite", CatalogSource: "cat", CatalogSourceNamespace: "olm"}}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(group, sub, csv, offered, sampleCatalog("olm", "cat"),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "else", Name: "canary"}}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ops"}}).Build()
}

// TestTenantLooks: status, list, catalog list, operands and check show the namespace, and a note for each thing that is not shown.
func TestTenantLooks(t *testing.T) {
	c := fakeapi.Tenant(tenants(), "ops")
	var text strings.Builder
	report := must.Value(InspectNamespace(t.Context(), c, "ops"))(t)
	must.NoError(t, report.Write(&text))
	must.Equal(t, "status", text.String(), `Namespace ops
├── ✓ OperatorGroup group (ops)
└── ✓ Subscription kite (package kite, channel stable of catalog olm/cat) AtLatestKnown
    └── ✓ ClusterServiceVersion kite.v1 Succeeded
note: CatalogSource olm/cat cannot be read as user dev: how it is, its Subscriptions tell
note: ClusterExtensions cannot be listed as user dev: those that install into namespace ops are not shown
`)
	const unseen = "ClusterExtensions cannot be listed as user dev"
	listing := must.Value(List(t.Context(), c, "ops"))(t)
	must.Equal(t, "listed", len(listing.Operators), 1)
	must.Contain(t, "notes of list", strings.Join(listing.Notes, "\n"), unseen)
	_, err := List(t.Context(), c, "")
	must.Fail(t, "list of all namespaces", err, "name a namespace that you may read, with -n")
	catalogs := must.Value(ListCatalogs(t.Context(), c, "ops"))(t)
	must.Equal(t, "notes of catalogs", catalogs.Notes, []string{"ClusterCatalogs cannot be listed as user dev: they are not shown",
		"namespace ops sees packages of CatalogSources of other namespaces, too: olm/cat; fairlead search lists them"})
	operands := must.Value(ReadOperands(t.Context(), c, "ops", "kite"))(t)
	must.Contain(t, "notes of operands", strings.Join(operands.Notes, "\n"), unseen)
	operators, notes, err := Read(t.Context(), c, "ops")
	must.NoError(t, err)
	must.Equal(t, "checked", len(operators), 1)
	must.Equal(t, "notes of check", notes, []string{unseen + ": they are not checked"})
	must.Equal(t, "history", must.Value(ReadSubscriptionHistory(t.Context(), c, client.ObjectKey{Namespace: "ops", Name: "kite"}))(t).Package, "kite")
	must.Equal(t, "held", must.Value(Hold(t.Context(), c, &v1alpha1.Subscription{}, client.ObjectKey{Namespace: "ops", Name: "kite"}, "", false))(t), true)
}

// TestTenantsCatalogsWhenTheirServerIsAway: that the packages of other namespaces could not be read is said, unless the user may not read them.
func TestTenantsCatalogsWhenTheirServerIsAway(t *testing.T) {
	const unseen = "ClusterCatalogs cannot be listed as user dev: they are not shown"
	for name, test := range map[string]struct {
		err  error
		want []string
	}{
		"an error":  {apierrors.NewServiceUnavailable("no endpoints"), []string{unseen, "whether namespace ops sees packages of CatalogSources of other namespaces is not known: list its PackageManifests: no endpoints"}},
		"forbidden": {apierrors.NewForbidden(schema.GroupResource{Resource: "packagemanifests"}, "", errors.New("no")), []string{unseen}},
		"not there": {&meta.NoKindMatchError{}, []string{unseen}},
	} {
		t.Run(name, func(t *testing.T) {
			inner := tenants()
			must.NoError(t, inner.Create(t.Context(), sampleCatalog("ops", "own"))) // without one there is nothing to list
			c := interceptor.NewClient(fakeapi.Tenant(inner, "ops"), interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				if _, is := list.(*packagesv1.PackageManifestList); is {
					return test.err
				}
				return c.List(ctx, list, opts...)
			}})
			must.Equal(t, "notes", must.Value(ListCatalogs(t.Context(), c, "ops"))(t).Notes, test.want)
		})
	}
}

// TestTenantTraces: of a custom resource whose definition may not be read, the operator of the namespace that owns the kind is followed.
func TestTenantTraces(t *testing.T) {
	kite := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Kite"}
	trace := must.Value(TraceObject(t.Context(), fakeapi.Tenant(traced().(client.WithWatch), "apps"), kite, client.ObjectKey{Namespace: "apps", Name: "mine"}))(t)
	must.Equal(t, "managed", trace.Managed, true)
	var links []string
	for _, l := range trace.Links {
		links = append(links, l.Kind+" "+l.Name+": "+l.Detail)
	}
	must.Equal(t, "links", links, []string{"Kite apps/mine: ",
		"CustomResourceDefinition kites.example.com: CustomResourceDefinitions cannot be listed as user dev: the ClusterServiceVersion that owns it is followed",
		"ClusterServiceVersion apps/kite.v2: a copy of the one in namespace ops",
		"ClusterServiceVersion ops/kite.v2: it cannot be read as user dev: what asks for it is not known"})
	account := must.Value(TraceObject(t.Context(), fakeapi.Tenant(traced().(client.WithWatch), "wind"), schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}, client.ObjectKey{Namespace: "wind", Name: "wind"}))
	if trace := account(t); len(trace.Links) != 2 || !strings.Contains(trace.Links[1].Detail, "cannot be read as user dev") {
		t.Errorf("of a ClusterExtension: %v", trace.Links)
	}
}

// TestTenantTracesWithoutRights: what may not be read on the way is a note, and the trace says as much as it can.
func TestTenantTracesWithoutRights(t *testing.T) {
	kite := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Kite"}
	definition := apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")
	version := v1alpha1.GroupVersion.WithKind(v1alpha1.ClusterServiceVersionKind)
	const none = "whether an operator brought it is not known: ask a user who may read what is named above\n"
	for name, test := range map[string]struct {
		kind   schema.GroupVersionKind
		key    client.ObjectKey
		refuse []string
		want   string
	}{
		"neither definitions nor ClusterServiceVersions": {kite, client.ObjectKey{Namespace: "apps", Name: "mine"}, []string{"CustomResourceDefinition", "ClusterServiceVersion"},
			"Kite apps/mine\n└── CustomResourceDefinition defines it: CustomResourceDefinitions, and ClusterServiceVersions of namespace apps, cannot be listed as user dev: who brought that of Kite is not known\n" + none},
		"a definition, and no ClusterServiceVersion": {definition, client.ObjectKey{Name: "kites.example.com"}, []string{"ClusterServiceVersion"},
			"CustomResourceDefinition kites.example.com\n└── ClusterServiceVersion owns it: ClusterServiceVersions of all namespaces cannot be listed as user dev: which one owns it is not known\n" + none},
		"a ClusterServiceVersion alone": {version, client.ObjectKey{Namespace: "ops", Name: "kite.v2"}, []string{"Subscription", "InstallPlan"},
			"ClusterServiceVersion ops/kite.v2: Succeeded\n└── Subscription asks for it: Subscriptions of namespace ops cannot be listed as user dev: which one asks for it is not known\n" +
				"    └── InstallPlan installed it: InstallPlans of namespace ops cannot be listed as user dev: what was decided is not known\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c := interceptor.NewClient(traced().(client.WithWatch), interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				gvk := must.Value(apiutil.GVKForObject(list, c.Scheme()))(t)
				if kind := strings.TrimSuffix(gvk.Kind, "List"); slices.Contains(test.refuse, kind) {
					return apierrors.NewForbidden(schema.GroupResource{Resource: kind}, "", fmt.Errorf("User %q cannot list resource %q", "dev", kind))
				}
				return c.List(ctx, list, opts...)
			}})
			trace := must.Value(TraceObject(t.Context(), c, test.kind, test.key))(t)
			var text strings.Builder
			must.NoError(t, trace.Write(&text))
			must.Equal(t, "trace", text.String(), test.want)
			must.Equal(t, "not known", trace.Unknown, test.kind != version)
		})
	}
}

// TestTenantApproves: that is for others, and said so.
func TestTenantApproves(t *testing.T) {
	plan := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "install-1"}}
	plan.Status.Phase = v1alpha1.InstallPlanPhaseRequiresApproval
	c := fakeapi.Tenant(cluster(t, plan).(client.WithWatch), "ops")
	waiting := must.Value(FindWaitingPlan(t.Context(), c, client.ObjectKey{Namespace: "ops", Name: "install-1"}))(t)
	must.Fail(t, "approve", waiting.Approve(t.Context(), c, false), `User "dev" cannot patch`, "is left to those who may patch InstallPlans: ask an administrator of the cluster")
}

// TestTenantGathers: the archive has what the namespace holds, and nothing else.
func TestTenantGathers(t *testing.T) {
	var out bytes.Buffer
	g := Gathering{Client: fakeapi.Tenant(tenants(), "ops"), Namespace: "olm", Mine: "ops"}
	result := must.Value(g.MustGather(t.Context(), &out))(t)
	files := unpackedArchive(t, out.Bytes())
	if files["must-gather/namespaces/ops/Subscription/kite.yaml"] == "" {
		t.Errorf("it has no Subscription: %d files", len(files))
	}
	for name := range files {
		if strings.Contains(name, "canary") || strings.Contains(name, "/olm/") {
			t.Errorf("it has %s", name)
		}
	}
	for _, note := range []string{"Subscription objects of all namespaces cannot be listed as user dev: those of namespace ops alone are gathered", "Pod objects of namespace olm cannot be listed as user dev: they are left out"} {
		if !slices.Contains(result.Notes, note) {
			t.Errorf("it is not noted that %s: %q", note, result.Notes)
		}
	}
}
