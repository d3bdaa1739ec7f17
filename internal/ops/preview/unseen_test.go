package preview

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// tenant is what a user of namespace ops sees of a cluster with a Subscription to package kite there; the manager has written its status.
func tenant(t *testing.T, status func(*v1alpha1.Subscription), objects ...client.Object) Cluster {
	t.Helper()
	scheme := runtime.NewScheme()
	must.NoError(t, errors.Join(olmv1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), operatorsv1.AddToScheme(scheme), packagesv1.AddToScheme(scheme), corev1.AddToScheme(scheme)))
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "my"},
		Spec: &v1alpha1.SubscriptionSpec{Package: "kite", Channel: "stable", CatalogSource: "toys", CatalogSourceNamespace: "olm"}}
	status(sub)
	for _, name := range []string{sub.Status.InstalledCSV} {
		if name != "" {
			csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name}}
			csv.Status.Phase = v1alpha1.CSVPhaseSucceeded
			objects = append(objects, csv)
		}
	}
	objects = append(objects, sub, manifest(), &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "toys"}})
	return Cluster{Reader: fakeapi.Tenant(fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(), "ops"), Server: server{version: "v1.36.0"}}
}

func readySubscription(status corev1.ConditionStatus, reason, message string) func(*v1alpha1.Subscription) {
	return func(s *v1alpha1.Subscription) {
		s.Status.Conditions = []v1alpha1.SubscriptionCondition{{Type: "Ready", Status: status, Reason: reason, Message: message}}
	}
}

// TestUnseenCatalogs: what the manager has written is the answer about a Subscription whose catalog a user may not read, with what PackageManifests have.
func TestUnseenCatalogs(t *testing.T) {
	has := func(installed, current string, is func(*v1alpha1.Subscription)) func(*v1alpha1.Subscription) {
		return func(s *v1alpha1.Subscription) {
			is(s)
			s.Status.InstalledCSV, s.Status.CurrentCSV = installed, current
		}
	}
	const because = "  because    subscription my requires package kite, channel stable, from catalog olm/toys\n"
	for name, test := range map[string]struct {
		status  func(*v1alpha1.Subscription)
		why     string
		columns string
		plan    string
		blocked bool
	}{
		"installed": {has("kite.v1.10.0", "kite.v1.10.0", readySubscription("True", "Installed", "is installed")), "kite.v1.10.0 is installed, and stays\n" + because,
			"my kite.v1.10.0 - - kite.v1.10.0 kite.v2.0.0 olm/toys", "the newest version in catalog olm/toys is kite.v2.0.0: the manager has found no way to it", false},
		"on its way": {has("kite.v1.9.0", "kite.v1.10.0", readySubscription("False", "InstallPlanPending", "install-2 is being carried out")),
			"✗ Subscription my: install-2 is being carried out\n\nkite.v1.9.0 is installed, and kite.v1.10.0 would take its place\n" + because,
			"my kite.v1.9.0 kite.v1.10.0 - kite.v1.10.0 kite.v2.0.0 olm/toys", "install-2 is being carried out", true},
		"to be installed": {has("", "kite.v1.10.0", readySubscription("False", "InstallPlanPending", "it waits")),
			"✗ Subscription my: it waits\n\nkite.v1.10.0 would be installed, from channel stable of catalog olm/toys\n" + because,
			"my - kite.v1.10.0 - kite.v1.10.0 kite.v2.0.0 olm/toys", "it waits", true},
		"unsolvable": {has("", "", readySubscription("False", "ResolutionFailed", "channel stabel does not exist")),
			"✗ Subscription my: channel stabel does not exist\n\nmy is not installed, and would not be\n  what the manager decided is in the status of Subscription my\n" + because,
			"my - - - kite.v1.10.0 kite.v2.0.0 olm/toys", "channel stabel does not exist", true},
		"not reconciled": {has("", "", func(*v1alpha1.Subscription) {}), "✗ Subscription my: the manager has not reconciled it yet; is it running?\n\nmy is not installed, and would not be\n  what the manager decided is in the status of Subscription my\n" + because,
			"my - - - kite.v1.10.0 kite.v2.0.0 olm/toys", "is it running?", true},
	} {
		t.Run(name, func(t *testing.T) {
			q := must.Value(tenant(t, test.status).Question(t.Context(), "ops", "olm"))(t)
			must.Contain(t, "notes", strings.Join(q.Notes, "\n"), "CatalogSources of namespace olm cannot be listed as user dev: packages come from PackageManifests, and what is decided from what the manager has written",
				"ClusterExtensions cannot be listed as user dev: they are not checked")
			p := must.Value(q.Decide(t.Context(), library(t)))(t)
			w := p.Why("my")
			var why, outdated, plan strings.Builder
			must.NoError(t, w.Write(&why))
			must.Equal(t, "why", why.String(), test.why)
			o := must.Value(p.Outdated(t.Context()))(t)
			must.NoError(t, o.Write(&outdated))
			must.Contain(t, "outdated", strings.Join(strings.Fields(outdated.String()), " "), test.columns)
			next := must.Value(p.PlanOf("my"))(t)
			must.NoError(t, next.Write(&plan))
			must.Contain(t, "plan", plan.String(), test.plan)
			must.Equal(t, "blocked", next.Blocked(), test.blocked)
			must.Equal(t, "why nothing is examined", next.nothing(), "what would be installed is not known: its CatalogSource cannot be listed as user dev: what it has is not known from here; name its content with --catalog olm/toys=DIR|IMAGE")
		})
	}
}

// TestWhyNotOfUnseenCatalogs: each version that PackageManifests show has a verdict, and one that they do not show is none.
func TestWhyNotOfUnseenCatalogs(t *testing.T) {
	q := must.Value(tenant(t, func(s *v1alpha1.Subscription) {
		readySubscription("True", "Installed", "")(s)
		s.Status.InstalledCSV, s.Status.CurrentCSV = "kite.v1.9.0", "kite.v1.10.0"
	}).Question(t.Context(), "ops", "olm"))(t)
	p := must.Value(q.Decide(t.Context(), library(t)))(t)
	w := must.Value(p.WhyNot(t.Context(), "kite", ""))(t)
	got := map[string]string{}
	for _, v := range w.Verdicts {
		got[v.Name] = strings.Join(v.Reasons, "; ")
	}
	must.Equal(t, "verdicts", got, map[string]string{"kite.v1.9.0": "Subscription my has it", "kite.v1.10.0": "Subscription my gets it", "kite.v2.0.0": "Subscription my follows channel stable, and it is in fast"})
	must.Equal(t, "of a version", len(must.Value(p.WhyNot(t.Context(), "kite", "2.0.0"))(t).Verdicts), 1)
	_, err := p.WhyNot(t.Context(), "wind", "")
	must.Fail(t, "a package that is not shown", err, "no catalog has a package of that name")
}

// TestSubscriptionWithoutSpec: one that asks for nothing is in no one's way.
func TestSubscriptionWithoutSpec(t *testing.T) {
	q := must.Value(tenant(t, readySubscription("True", "Installed", "")).Question(t.Context(), "ops", "olm"))(t)
	p := must.Value(q.Decide(t.Context(), library(t)))(t)
	p.observed.Subscriptions = append([]v1alpha1.Subscription{{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "bare"}}}, p.observed.Subscriptions...)
	must.Equal(t, "that of the package", p.written("kite").Name, "my")
	must.Equal(t, "that of the name", p.written("bare") == nil, true)
}

// TestNamedContentOfAnUnseenCatalog is decided on as that of any other.
func TestNamedContentOfAnUnseenCatalog(t *testing.T) {
	q := must.Value(tenant(t, readySubscription("True", "Installed", "")).Question(t.Context(), "ops", "olm"))(t)
	dir := t.TempDir()
	must.NoError(t, os.WriteFile(filepath.Join(dir, "catalog.yaml"), []byte(browseContent), 0o600))
	q.Catalogs = []Catalog{{Ref: catalog.Ref{Namespace: "olm", Name: "toys"}, Source: dir}, {Ref: catalog.Ref{Name: "wind"}, Source: dir}}
	p := must.Value(q.Decide(t.Context(), library(t)))(t)
	w := p.Why("my")
	must.Equal(t, "state", w.State, StateChosen)
	must.Equal(t, "version", w.Version, "1.10.0")
}

// TestNeitherManifestsNorCatalogs: in a namespace where the user may see nothing, that is said.
func TestNeitherManifestsNorCatalogs(t *testing.T) {
	c := tenant(t, func(*v1alpha1.Subscription) {})
	_, err := BrowseCluster{Reader: c.Reader, Namespace: "else"}.InView(t.Context(), "olm", "kite")
	must.Fail(t, "another namespace", err, "find out which packages namespace else sees: you may read neither its PackageManifests nor its CatalogSources; choose another namespace with -n", "dev")
	a := must.Value(BrowseCluster{Reader: c.Reader, Namespace: "ops"}.InView(t.Context(), "olm", "kite"))(t)
	must.Equal(t, "in the own one", len(a.Packages), 1)
	both := must.Value(BrowseCluster{Reader: c.Reader, Namespace: "ops"}.Both(t.Context(), ""))(t)
	must.Equal(t, "notes", both.Notes, []string{"ClusterCatalogs cannot be listed as user dev: packages come from PackageManifests"})
}
