package ops

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

const someDigest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// catalogCluster is a cluster with both APIs. What refuse returns an error for is not listed or read.
func catalogCluster(t *testing.T, refuse func(o runtime.Object, namespace string) error, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	must.NoError(t, errors.Join(olmv1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), operatorsv1.AddToScheme(scheme), corev1.AddToScheme(scheme)))
	if refuse == nil {
		refuse = func(runtime.Object, string) error { return nil }
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			var o client.ListOptions
			o.ApplyOptions(opts)
			if err := refuse(list, o.Namespace); err != nil {
				return err
			}
			return c.List(ctx, list, opts...)
		},
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if err := refuse(o, key.Namespace); err != nil {
				return err
			}
			return c.Get(ctx, key, o, opts...)
		}}).Build()
}

func readyIs(status metav1.ConditionStatus, reason, message string, generation int64) []metav1.Condition {
	return []metav1.Condition{{Type: "Ready", Status: status, Reason: reason, Message: message, ObservedGeneration: generation}}
}

// aCatalogSource is a CatalogSource whose Ready is as given.
func aCatalogSource(namespace, name string, conditions ...metav1.Condition) *v1alpha1.CatalogSource {
	s := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Generation: 1}}
	s.Spec = v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: "registry.example.com/cat:v1"}
	s.Status.Conditions = conditions
	return s
}

func aClusterCatalog(name string, conditions ...metav1.Condition) *olmv1.ClusterCatalog {
	c := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1}}
	c.Spec.Source = olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: "registry.example.com/toys:v1"}}
	c.Status.Conditions = conditions
	return c
}

// TestListCatalogs: of both APIs, with digest, age and what is wrong.
func TestListCatalogs(t *testing.T) {
	now := time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC)
	served := aCatalogSource("olm", "served", readyIs("True", "Serving", "serving 3 packages of "+someDigest, 1)...)
	served.Spec.Priority = 5
	served.Status.GRPCConnectionState = &v1alpha1.GRPCConnectionState{LastConnectTime: metav1.NewTime(now.Add(-90 * time.Minute))}
	mapped := aCatalogSource("mine", "mapped", readyIs("False", "ConfigMapError", "ConfigMap cat is not there\nand more", 1)...)
	mapped.Spec.Image, mapped.Spec.SourceType, mapped.Spec.ConfigMap = "", v1alpha1.SourceTypeConfigmap, "cat"
	old := aCatalogSource("olm", "changed", readyIs("True", "Serving", "", 0)...)
	toys := aClusterCatalog("toys", append(readyIs("True", olmv1.ReasonAvailable, "", 1), metav1.Condition{Type: olmv1.TypeServing, Status: "True"})...)
	toys.Status.ResolvedSource = &olmv1.ResolvedCatalogSource{Image: &olmv1.ResolvedImageSource{Ref: "registry.example.com/toys@" + someDigest}}
	unpacked := metav1.NewTime(now.Add(-72 * time.Hour))
	toys.Status.LastUnpacked = &unpacked
	off := aClusterCatalog("off", append(readyIs("True", olmv1.ReasonUserSpecifiedUnavailable, "it is switched off", 1), metav1.Condition{Type: olmv1.TypeServing, Status: "False"})...)
	c := catalogCluster(t, nil, served, mapped, old, toys, off)
	l := must.Value(ListCatalogs(t.Context(), c, ""))(t)
	l.now = now
	var text strings.Builder
	must.NoError(t, l.Write(&text))
	must.Equal(t, "text", text.String(), `NAMESPACE  NAME     API  SOURCE                        PRIORITY  DIGEST               AGE  STATUS
mine       mapped   v0   ConfigMap cat                 0         -                    -    ✗ ConfigMapError: ConfigMap cat is not there
olm        changed  v0   registry.example.com/cat:v1   0         -                    -    ✗ unknown: not reconciled yet; is the manager running?
olm        served   v0   registry.example.com/cat:v1   5         sha256:0123456789ab  90m  ✓ Serving
-          off      v1   registry.example.com/toys:v1  0         -                    -    ✓ UserSpecifiedUnavailable: it is switched off
-          toys     v1   registry.example.com/toys:v1  0         sha256:0123456789ab  3d   ✓ Available
`)
	must.Equal(t, "done", l.Done(), false)
	one := must.Value(ListCatalogs(t.Context(), c, "mine"))(t)
	must.Equal(t, "of a namespace, and the cluster", len(one.Catalogs), 3)
	text.Reset()
	none := must.Value(ListCatalogs(t.Context(), catalogCluster(t, nil), ""))(t)
	must.NoError(t, none.Write(&text))
	must.Equal(t, "none", text.String(), "there is no catalog; fairlead catalog add creates one\n")
	_, err := ListCatalogs(t.Context(), catalogCluster(t, nil), "nowhere")
	must.Fail(t, "no namespace", err, "there is no such namespace")
	_, err = ListCatalogs(t.Context(), c, "nowhere")
	must.Fail(t, "no namespace, where ClusterCatalogs are", err, "there is no such namespace")
}

// TestListCatalogsThatMayNotBeListed become a note, and another failure is an error.
func TestListCatalogsThatMayNotBeListed(t *testing.T) {
	forbid := func(o runtime.Object, _ string) error {
		if _, is := o.(*olmv1.ClusterCatalogList); is {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "clustercatalogs"}, "", errors.New("no"))
		}
		return nil
	}
	l := must.Value(ListCatalogs(t.Context(), catalogCluster(t, forbid, aCatalogSource("olm", "cat")), "olm"))(t)
	must.Equal(t, "catalogs", len(l.Catalogs), 1)
	must.Contain(t, "notes", strings.Join(l.Notes, "\n"), "ClusterCatalogs cannot be read by this user: they are not shown")
	_, err := ListCatalogs(t.Context(), catalogCluster(t, func(runtime.Object, string) error { return errors.New("refused") }), "")
	must.Fail(t, "no answer", err, "list the CatalogSources: refused")
	must.Equal(t, "no digest", shortDigest("x"), "x")
}

// TestAddCatalog creates one of either API, once, and refuses another image under its name.
func TestAddCatalog(t *testing.T) {
	for name, o := range map[string]CatalogOptions{
		"v0": {Name: "cat", Namespace: "olm", Image: "registry.example.com/cat:v1", Priority: 3, Poll: time.Hour, Secrets: []string{"pull"}},
		"v1": {Name: "cat", Image: "registry.example.com/cat:v1", Priority: 3, Poll: time.Hour},
	} {
		c := catalogCluster(t, nil)
		add := func(o CatalogOptions) (InstalledCatalog, bool, error) { return AddCatalog(t.Context(), c, o) }
		o.DryRun = true
		_, created, err := add(o)
		must.NoError(t, err)
		must.Equal(t, name+": would be created", created, true)
		must.Equal(t, name+": by a dry run", len(must.Value(ListCatalogs(t.Context(), c, ""))(t).Catalogs), 0)
		o.DryRun = false
		_, created, err = add(o)
		must.NoError(t, err)
		must.Equal(t, name+": created", created, true)
		live := emptyCatalog(o.Namespace)
		must.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: o.Namespace, Name: "cat"}, live))
		switch s := live.(type) {
		case *v1alpha1.CatalogSource:
			must.Equal(t, "CatalogSource", []any{s.Spec.SourceType, s.Spec.Image, s.Spec.Priority, s.Spec.UpdateStrategy.RegistryPoll.Interval.Duration, s.Spec.Secrets[0]},
				[]any{v1alpha1.SourceTypeGrpc, o.Image, 3, time.Hour, "pull"})
		case *olmv1.ClusterCatalog:
			must.Equal(t, "ClusterCatalog", []any{s.Spec.Source.Image.Ref, s.Spec.Priority, *s.Spec.Source.Image.PollIntervalMinutes}, []any{o.Image, int32(3), 60})
		}
		_, created, err = add(o)
		must.NoError(t, err)
		must.Equal(t, name+": created again", created, false)
		o.Image = "registry.example.com/other:v1"
		_, _, err = add(o)
		must.Fail(t, name, err, "there is one of that name, with registry.example.com/cat:v1; choose another name, or remove it first: fairlead catalog remove cat")
	}
	c := interceptor.NewClient(catalogCluster(t, nil).(client.WithWatch), interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "olm")
	}})
	_, _, err := AddCatalog(t.Context(), c, CatalogOptions{Name: "cat", Namespace: "olm", Image: "registry.example.com/cat:v1"})
	must.Fail(t, "no namespace", err, "create CatalogSource olm/cat: namespaces \"olm\" not found; create the namespace, or name another one with -n")
	for want, o := range map[string]CatalogOptions{
		"cannot be negative":             {Poll: -1},
		"it is named by its digest":      {Poll: time.Hour, Image: "registry.example.com/cat@" + someDigest},
		"an interval of a minute":        {Poll: time.Second},
		"--pull-secret is for a Catalog": {Secrets: []string{"a"}},
	} {
		_, _, err := AddCatalog(t.Context(), catalogCluster(t, nil), o)
		must.Fail(t, want, err, want)
	}
}

// TestWaitCatalog: until it serves, at once where it cannot, and after a while where the manager tries again.
func TestWaitCatalog(t *testing.T) {
	stalled := append(readyIs("False", "SpecInvalidError", "no image", 1), metav1.Condition{Type: reconcile.TypeStalled, Status: "True"})
	for name, test := range map[string]struct {
		o    client.Object
		want string
	}{
		"serves":                {aCatalogSource("olm", "cat", readyIs("True", "Serving", "", 1)...), ""},
		"of the cluster":        {aClusterCatalog("cat", readyIs("True", olmv1.ReasonAvailable, "", 1)...), ""},
		"stalled":               {aCatalogSource("olm", "cat", stalled...), "CatalogSource olm/cat: SpecInvalidError: no image"},
		"a problem":             {aClusterCatalog("cat", readyIs("False", olmv1.ReasonRetrying, "no such host", 1)...), "ClusterCatalog cat: Retrying: no such host"},
		"not reconciled":        {aCatalogSource("olm", "cat"), "wait for CatalogSource olm/cat: it does not serve its content: not reconciled yet; is the manager running?"},
		"loading":               {aCatalogSource("olm", "cat", readyIs("False", "Loading", "the catalog is being loaded", 1)...), "it does not serve its content: the catalog is being loaded"},
		"switched off":          {aClusterCatalog("cat", append(readyIs("True", olmv1.ReasonUserSpecifiedUnavailable, "it is switched off", 1), metav1.Condition{Type: olmv1.TypeServing, Status: "False"})...), "ClusterCatalog cat: UserSpecifiedUnavailable: it is switched off"},
		"serves something else": {aCatalogSource("olm", "cat", readyIs("True", "Serving", "", 0)...), "not reconciled yet"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		var told []string
		_, err := waitCatalog(ctx, catalogCluster(t, nil, test.o), client.ObjectKeyFromObject(test.o), time.Millisecond, func(message string) { told = append(told, message) })
		cancel()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) || len(told) > 1 || slices.Contains(told, unreconciled) {
			t.Errorf("%s: %v, told %q", name, err, told)
		}
	}
	_, err := WaitCatalog(t.Context(), catalogCluster(t, nil), client.ObjectKey{Name: "none"}, func(string) {})
	must.Fail(t, "none", err, "read catalog none")
}

// catalogDependents are a Subscription and ClusterExtensions that use catalogs.
func catalogDependents() []client.Object {
	sub := func(namespace, name, catalog, of string) client.Object {
		return &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Status: v1alpha1.SubscriptionStatus{InstalledCSV: name + ".v1"},
			Spec: &v1alpha1.SubscriptionSpec{Package: name, CatalogSource: catalog, CatalogSourceNamespace: of}}
	}
	set := &olmv1.ClusterObjectSet{ObjectMeta: metav1.ObjectMeta{Name: "wind-1", Labels: map[string]string{olmv1.OwnerKindKey: olmv1.ClusterExtensionKind, olmv1.OwnerNameKey: "wind"},
		Annotations: map[string]string{desired.CatalogKey: "toys@" + someDigest, olmv1.BundleNameKey: "wind.v1"}}}
	set.Spec.LifecycleState = olmv1.LifecycleStateActive
	selecting := newExtension("kite", "kite", func(e *olmv1.ClusterExtension) {
		e.Spec.Source.Catalog.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{olmv1.MetadataNameKey: "toys"}}
	})
	return []client.Object{sub("ops", "kite", "cat", "olm"), sub("ops", "other", "cat", "ops"), sub("apps", "wind", "cat", "olm"), set, selecting, newExtension("wind", "wind", nil), newExtension("calm", "calm", nil)}
}

// TestRemoveCatalog names what depends on it, and removes it and no other one.
func TestRemoveCatalog(t *testing.T) {
	both := append(catalogDependents(), aCatalogSource("olm", "cat"), aClusterCatalog("toys"), aCatalogSource("olm", "toys"))
	for name, test := range map[string]struct {
		api, name string
		want      string
	}{
		"v0": {"", "cat", "CatalogSource olm/cat (registry.example.com/cat:v1) would be removed\nthese keep what is installed, and get nothing newer without it:\n" +
			"  Subscription apps/wind asks for package wind, and has installed wind.v1\n  Subscription ops/kite asks for package kite, and has installed kite.v1\n"},
		"v1": {"v1", "toys", "ClusterCatalog toys (registry.example.com/toys:v1) would be removed\nthese keep what is installed, and get nothing newer without it:\n" +
			"  ClusterExtension kite selects it, for package kite\n  ClusterExtension wind has installed wind.v1 from it\n"},
		"unused": {"v0", "toys", "CatalogSource olm/toys (registry.example.com/cat:v1) would be removed\nnothing that could be read depends on it\n"},
	} {
		c := catalogCluster(t, nil, both...)
		r := must.Value(FindCatalog(t.Context(), c, test.api, client.ObjectKey{Namespace: "olm", Name: test.name}))(t)
		must.NoError(t, r.ReadDependents(t.Context(), c))
		var text strings.Builder
		must.NoError(t, r.Write(&text))
		must.Equal(t, name, text.String(), test.want)
		must.NoError(t, r.Remove(t.Context(), c, false))
		must.Equal(t, name+": catalogs that are left", len(must.Value(ListCatalogs(t.Context(), c, ""))(t).Catalogs), 2)
	}
	c := catalogCluster(t, nil, both...)
	_, err := FindCatalog(t.Context(), c, "", client.ObjectKey{Namespace: "olm", Name: "toys"})
	must.Fail(t, "both", err, "there are CatalogSource olm/toys and ClusterCatalog toys; say which one is meant with --api v0 or --api v1")
	_, err = FindCatalog(t.Context(), c, "", client.ObjectKey{Namespace: "olm", Name: "none"})
	must.Fail(t, "none", err, "remove catalog none: namespace olm has no CatalogSource of that name, and there is no such ClusterCatalog")
}

// TestRemoveCatalogOfATenant: what may not be read is a note.
func TestRemoveCatalogOfATenant(t *testing.T) {
	source := aCatalogSource("ops", "cat")
	source.Spec.Image, source.Spec.SourceType, source.Spec.ConfigMap = "", v1alpha1.SourceTypeConfigmap, "content"
	forbid := func(o runtime.Object, namespace string) error {
		if namespace == "" {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "x"}, "", errors.New("no"))
		}
		return nil
	}
	c := catalogCluster(t, forbid, append(catalogDependents(), source)...)
	r := must.Value(FindCatalog(t.Context(), c, "", client.ObjectKeyFromObject(source)))(t)
	must.NoError(t, r.ReadDependents(t.Context(), c))
	must.Equal(t, "dependents", r.Dependents, []CatalogDependent{{"Subscription", "ops/other", "asks for package other, and has installed other.v1"}})
	must.Contain(t, "notes", strings.Join(r.Notes, "\n"), "ConfigMap ops/content goes with the last CatalogSource that uses it", "only the Subscriptions of namespace ops are checked")
	_, err := FindCatalog(t.Context(), c, "", client.ObjectKey{Namespace: "ops", Name: "none"})
	must.Fail(t, "may not be looked for", err, "look for catalog none: x is forbidden")
}

// TestServedCatalogs: another text when a catalog comes, or has something else, and the same when only the time of its last poll has changed.
func TestServedCatalogs(t *testing.T) {
	source := aCatalogSource("shop", "cat")
	c := catalogCluster(t, nil, source, aClusterCatalog("cat"), aCatalogSource("elsewhere", "cat"))
	served := func() string { return ServedCatalogs(t.Context(), c, "shop", "olm", "shop") }
	before := served()
	must.Contain(t, "those that the namespace sees", before, "CatalogSource shop/cat ", "ClusterCatalog cat ")
	must.Lack(t, "those of others", before, "elsewhere")
	must.Equal(t, "once each", strings.Count(before, "shop/cat"), 1)
	must.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(source), source))
	now := metav1.Now()
	source.Status.LatestImageRegistryPoll = &now
	must.NoError(t, c.Update(t.Context(), source))
	must.Equal(t, "polled", served(), before)
	source.Spec.Image = "registry.example.com/cat:v2"
	must.NoError(t, c.Update(t.Context(), source))
	changed := served()
	if changed == before {
		t.Error("another image is the same")
	}
	must.NoError(t, c.Create(t.Context(), aCatalogSource("olm", "global")))
	must.Contain(t, "one more", served(), "CatalogSource olm/global ")
}
