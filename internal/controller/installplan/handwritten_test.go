package installplan

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The shop has a web server that requires a database, each in two versions.
var (
	web1    = offer{pkg: "web", version: "1.0.0", owns: "Web", requires: "Base"}
	web2    = offer{pkg: "web", version: "2.0.0", replaces: "web.v1.0.0", owns: "Web", requires: "Base"}
	base1   = offer{pkg: "base", version: "1.0.0", owns: "Base"}
	base2   = offer{pkg: "base", version: "2.0.0", replaces: "base.v1.0.0", owns: "Base"}
	lone    = offer{pkg: "lone", version: "1.0.0"}
	needy   = offer{pkg: "needy", version: "1.0.0", requires: "Nothing"}
	rival   = offer{pkg: "rival", version: "1.0.0", owns: "Base"}
	whole   = []offer{web1, web2, base1, base2, lone, needy, rival}
	objects = []client.Object{catalogSource("ns", "cat", 0)}
)

func installs(p *v1alpha1.InstallPlan, kind string) []string {
	var names []string
	for _, s := range p.Status.Plan {
		if s.Resource.Kind == kind {
			names = append(names, s.Resource.Name)
		}
	}
	slices.Sort(names)
	return names
}

// TestHandWrittenPlans: a plan that names ClusterServiceVersions gets the steps of these, of each CRD that they own or require, and of
// what owns that; they are carried out when it is approved.
func TestHandWrittenPlans(t *testing.T) {
	tests := map[string]struct {
		plan      *v1alpha1.InstallPlan
		there     []offer
		csvs      []string
		crds      []string
		untouched []string // of those that are there
	}{
		"one without needs": {handMade("Automatic", "lone.v1.0.0"), nil, []string{"lone.v1.0.0"}, nil, nil},
		"a required CRD brings what owns it, the newest": {handMade("Automatic", "web.v1.0.0"), nil,
			[]string{"base.v2.0.0", "web.v1.0.0"}, []string{"bases.example.com", "webs.example.com"}, nil},
		"the named one of several providers": {handMade("Automatic", "web.v1.0.0", "base.v1.0.0"), nil,
			[]string{"base.v1.0.0", "web.v1.0.0"}, []string{"bases.example.com", "webs.example.com"}, nil},
		"a provider from another package": {handMade("Automatic", "rival.v1.0.0", "web.v2.0.0"), nil,
			[]string{"rival.v1.0.0", "web.v2.0.0"}, []string{"bases.example.com", "webs.example.com"}, nil},
		"what is installed provides, and is not upgraded": {handMade("Automatic", "web.v1.0.0"), []offer{base1},
			[]string{"web.v1.0.0"}, []string{"webs.example.com"}, []string{"base.v1.0.0"}},
		"named twice": {handMade("Automatic", "lone.v1.0.0", "lone.v1.0.0"), nil, []string{"lone.v1.0.0"}, nil, nil},
		"installed already, so what it lacks is brought": {handMade("Automatic", "lone.v1.0.0"), []offer{lone}, []string{"lone.v1.0.0"}, nil, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			there := append([]client.Object{tc.plan}, objects...)
			for _, o := range tc.there {
				there = append(there, runs(t, o))
			}
			w := newWorld(t, there...)
			w.shop(t, "ns", "cat", whole...)
			p := w.settle(t, time.Minute)
			hasPhase(t, p, v1alpha1.InstallPlanPhaseComplete)
			must.Equal(t, "installs", installs(p, "ClusterServiceVersion"), tc.csvs)
			must.Equal(t, "installs", installs(p, crdKind), tc.crds)
			for _, csv := range append(tc.csvs, tc.untouched...) {
				if !w.get(t, &v1alpha1.ClusterServiceVersion{}, "ns", csv) {
					t.Errorf("%s does not exist", csv)
				}
			}
			must.Empty(t, "nobody asked for Subscriptions", installs(p, v1alpha1.SubscriptionKind))
			resolved := p.Status.GetCondition(v1alpha1.InstallPlanResolved)
			if resolved.Status != corev1.ConditionTrue || len(p.Status.BundleLookups) != len(tc.csvs) || !slices.Equal(p.Status.CatalogSources, []string{"cat"}) {
				t.Errorf("resolved %+v, lookups %+v, catalogs %v", resolved, p.Status.BundleLookups, p.Status.CatalogSources)
			}
			checkStatus(t, p)
			w.Taken()
			if _, err := w.reconcile(t); err != nil || len(w.Taken()) != 0 {
				t.Errorf("a finished plan is written: %v", err)
			}
		})
	}
}

// TestHandWrittenUpgrade replaces what is installed of the package.
func TestHandWrittenUpgrade(t *testing.T) {
	w := newWorld(t, append([]client.Object{handMade("Automatic", "base.v2.0.0"), runs(t, base1)}, objects...)...)
	w.shop(t, "ns", "cat", whole...)
	hasPhase(t, w.settle(t, time.Minute), v1alpha1.InstallPlanPhaseComplete)
	csv := &v1alpha1.ClusterServiceVersion{}
	if !w.get(t, csv, "ns", "base.v2.0.0") || csv.Spec.Replaces != "base.v1.0.0" {
		t.Errorf("it replaces %q", csv.Spec.Replaces)
	}
}

// TestHandWrittenApproval: a Manual plan shows all its steps, and does nothing before it is approved. Until then its spec may change.
func TestHandWrittenApproval(t *testing.T) {
	w := newWorld(t, append([]client.Object{handMade("Manual", "web.v1.0.0")}, objects...)...)
	w.shop(t, "ns", "cat", whole...)
	p := w.settle(t, time.Minute)
	if p.Status.Phase != v1alpha1.InstallPlanPhaseRequiresApproval || len(installs(p, "ClusterServiceVersion")) != 2 {
		t.Fatalf("%s with steps %v", p.Status.Phase, statuses(p))
	}
	if writes := w.Taken(); slices.ContainsFunc(writes, func(s string) bool { return s != reported }) {
		t.Errorf("before the approval: %v", writes)
	}
	p.Spec.ClusterServiceVersionNames = []string{"lone.v1.0.0"}
	must.NoError(t, w.Inner.Update(t.Context(), p))
	p = w.settle(t, time.Minute)
	if got := installs(p, "ClusterServiceVersion"); !slices.Equal(got, []string{"lone.v1.0.0"}) || p.Status.Phase != v1alpha1.InstallPlanPhaseRequiresApproval {
		t.Fatalf("after its spec changed: %s with %v", p.Status.Phase, got)
	}
	p.Spec.Approved = true
	must.NoError(t, w.Inner.Update(t.Context(), p))
	if p = w.settle(t, time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseComplete || w.get(t, &v1alpha1.ClusterServiceVersion{}, "ns", "web.v1.0.0") {
		t.Errorf("after the approval: %s: %s", p.Status.Phase, p.Status.Message)
	}
}

// TestHandWrittenPlansThatCannotBe say what to do, and go on by themselves when it is done.
func TestHandWrittenPlansThatCannotBe(t *testing.T) {
	from := func(p *v1alpha1.InstallPlan, namespace, name string) *v1alpha1.InstallPlan {
		p.Spec.CatalogSourceNamespace, p.Spec.CatalogSource = namespace, name
		return p
	}
	failing := runs(t, base1)
	failing.Status.Phase = v1alpha1.CSVPhaseFailed
	tests := map[string]struct {
		plan   *v1alpha1.InstallPlan
		there  []client.Object
		reason v1alpha1.InstallPlanConditionReason
		says   []string
	}{
		"an unknown name":                  {handMade("Automatic", "wbe.v1.0.0"), nil, "PlanUnknown", []string{"no catalog has ClusterServiceVersion wbe.v1.0.0; asked were ns/cat; olm/global", "correct spec.clusterServiceVersionNames"}},
		"one unknown of two stops both":    {handMade("Automatic", "lone.v1.0.0", "x.v1"), nil, "PlanUnknown", []string{"no catalog has ClusterServiceVersion x.v1"}},
		"an unknown catalog":               {from(handMade("Automatic", "web.v1.0.0"), "ns", "cats"), nil, "PlanUnknown", []string{"spec.source names CatalogSource ns/cats, of which there is none in view", "create it"}},
		"a catalog of another namespace":   {from(handMade("Automatic", "web.v1.0.0"), "elsewhere", "cat"), []client.Object{catalogSource("elsewhere", "cat", 0)}, "PlanUnknown", []string{"CatalogSource elsewhere/cat, of which there is none in view"}},
		"not in the catalog that it names": {from(handMade("Automatic", "web.v1.0.0"), "olm", "global"), nil, "PlanUnknown", []string{"asked were olm/global:"}},
		"a catalog without content":        {handMade("Automatic", "web.v1.0.0"), []client.Object{catalogSource("ns", "first", 7)}, "PlanUnknown", []string{"looked for in catalog ns/first, which has no content: it is still being loaded", "name another catalog in spec.source"}},
		"nobody owns what it requires":     {handMade("Automatic", "needy.v1.0.0"), nil, "DependenciesConflict", []string{"the InstallPlan's needy.v1.0.0", "requires an operator providing Nothing.v1.example.com", "create a CatalogSource whose catalog has"}},
		"two versions of a package":        {handMade("Automatic", "base.v1.0.0", "base.v2.0.0"), nil, "DependenciesConflict", []string{"there can be only one"}},
		"two providers of an API":          {handMade("Automatic", "rival.v1.0.0"), []client.Object{runs(t, base1)}, "DependenciesConflict", []string{"clusterserviceversion base.v1.0.0 exists", "provid"}},
		"no way back":                      {handMade("Automatic", "base.v1.0.0"), []client.Object{runs(t, base2)}, "DependenciesConflict", []string{"base.v1.0.0 does not take the place of base.v2.0.0", "no upgrade edge of catalog ns/cat leads there", "or delete ClusterServiceVersion base.v2.0.0 first"}},
		"what failed is not replaced":      {handMade("Automatic", "base.v2.0.0"), []client.Object{failing}, "DependenciesConflict", []string{"base.v2.0.0 does not take the place of base.v1.0.0", "that is Failed"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			there := append([]client.Object{tc.plan, catalogSource("olm", "global", 0)}, append(tc.there, objects...)...)
			w := newWorld(t, there...)
			w.shop(t, "ns", "cat", whole...)
			w.shop(t, "olm", "global", offer{pkg: "other", version: "1.0.0"})
			p := w.settle(t, time.Minute)
			resolved := p.Status.GetCondition(v1alpha1.InstallPlanResolved)
			if p.Status.Phase != v1alpha1.InstallPlanPhasePlanning || resolved.Status != corev1.ConditionFalse || resolved.Reason != tc.reason || resolved.Message != p.Status.Message {
				t.Fatalf("%s: %s; %+v", p.Status.Phase, p.Status.Message, resolved)
			}
			for _, text := range tc.says {
				must.Contain(t, "message without", p.Status.Message, text)
			}
			must.Lack(t, "a message about Subscriptions, of which there are none", strings.ToLower(p.Status.Message), "subscription")
			w.Taken()
			if _, err := w.reconcile(t); err != nil || len(w.Taken()) != 0 {
				t.Errorf("it is said again: %v", err)
			}
			p.Spec.ClusterServiceVersionNames, p.Spec.CatalogSource, p.Spec.CatalogSourceNamespace = []string{"lone.v1.0.0"}, "cat", "ns"
			must.NoError(t, w.Inner.Update(t.Context(), p))
			if p = w.settle(t, time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseComplete {
				t.Errorf("after its spec was corrected: %s: %s", p.Status.Phase, p.Status.Message)
			}
		})
	}
}

// TestCatalogsAreAskedInOrder: by priority, then those of the namespace itself; a namespace may leave out the global ones.
func TestCatalogsAreAskedInOrder(t *testing.T) {
	tests := map[string]struct {
		own, global int // priorities
		excluded    bool
		want        string
	}{
		"the namespace's own":        {0, 0, false, "cat"},
		"the one of higher priority": {0, 5, false, "global"},
		"without the global ones":    {0, 5, true, "cat"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, handMade("Automatic", "lone.v1.0.0"), catalogSource("ns", "cat", tc.own), catalogSource("olm", "global", tc.global))
			w.shop(t, "ns", "cat", lone)
			w.shop(t, "olm", "global", lone)
			if tc.excluded {
				group := &operatorsv1.OperatorGroup{}
				w.get(t, group, "ns", "group")
				group.Annotations = map[string]string{v1alpha1.ExcludeGlobalNamespaceAnnotation: "true"}
				must.NoError(t, w.Inner.Update(t.Context(), group))
			}
			if p := w.settle(t, time.Minute); !slices.Equal(p.Status.CatalogSources, []string{tc.want}) {
				t.Errorf("from %v, want %s: %s", p.Status.CatalogSources, tc.want, p.Status.Message)
			}
		})
	}
}

// TestHandWrittenPlanChangesItsCatalog has the namespace of catalogs corrected before the approval, and nothing else.
func TestHandWrittenPlanChangesItsCatalog(t *testing.T) {
	plan := handMade("Manual", "lone.v1.0.0")
	plan.Spec.CatalogSourceNamespace = "ns"
	w := newWorld(t, plan, catalogSource("ns", "cat", 0), catalogSource("olm", "global", 0))
	w.shop(t, "ns", "cat", lone)
	w.shop(t, "olm", "global", lone)
	if p := w.settle(t, time.Minute); !slices.Equal(p.Status.CatalogSources, []string{"cat"}) {
		t.Fatalf("from %v: %s", p.Status.CatalogSources, p.Status.Message)
	}
	p := w.plan(t, "plan")
	p.Spec.CatalogSourceNamespace = "olm"
	must.NoError(t, w.Inner.Update(t.Context(), p))
	if p := w.settle(t, time.Minute); !slices.Equal(p.Status.CatalogSources, []string{"global"}) {
		t.Errorf("still from %v: %s", p.Status.CatalogSources, p.Status.Message)
	}
}

// TestHandWrittenPlanFollowsTheNews: what was missing comes later, and the Notifier knows which plans that concerns.
func TestHandWrittenPlanFollowsTheNews(t *testing.T) {
	w := newWorld(t, append([]client.Object{handMade("Automatic", "lone.v1.0.0")}, objects...)...)
	hasPhase(t, w.settle(t, time.Minute), v1alpha1.InstallPlanPhasePlanning)
	must.Equal(t, "plans that wait for catalogs", len(w.watcher().plans(t.Context(), "", isUnresolved)), 1)
	w.controller.Catalogs.Publish(catalog.Ref{Namespace: "ns", Name: "cat"}, catalogstore.Entry{Problem: "registry answers 503"})
	must.Contain(t, "the catalog cannot be read", w.settle(t, time.Minute).Status.Message, "registry answers 503")
	w.shop(t, "ns", "cat", lone)
	hasPhase(t, w.settle(t, time.Minute), v1alpha1.InstallPlanPhaseComplete)
	must.Empty(t, "plans that wait for catalogs", w.watcher().plans(t.Context(), "", isUnresolved))
}

// TestPresentOperatorOfNoCatalog is only listed.
func TestPresentOperatorOfNoCatalog(t *testing.T) {
	w := newWorld(t, append([]client.Object{handMade("Automatic", "own.v1.0.0"), runs(t, offer{pkg: "own", version: "1.0.0"})}, objects...)...)
	w.shop(t, "ns", "cat", whole...)
	p := w.settle(t, time.Minute)
	if p.Status.Phase != v1alpha1.InstallPlanPhaseComplete || len(p.Status.Plan) != 1 || p.Status.Plan[0].Status != v1alpha1.StepStatusPresent {
		t.Errorf("%s: %s; %v", p.Status.Phase, p.Status.Message, statuses(p))
	}
}

// TestBundleLookupsTellOfTheRegistry: the answer of the registry is in the lookup, never together with the word that the bundle is on
// its way, and the plan goes on when the registry does.
func TestBundleLookupsTellOfTheRegistry(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the mirror is closed", http.StatusForbidden)
	}))
	t.Cleanup(server.Close)
	store := must.Value(image.Open(t.TempDir(), image.Config{}))(t)
	pulled := lone
	pulled.image = strings.TrimPrefix(server.URL, "http://") + "/lone:v1"
	w := newWorld(t, append([]client.Object{handMade("Automatic", "lone.v1.0.0")}, objects...)...)
	w.controller.Unpacker = bundleio.NewUnpacker(store, realClock{w.Clock}, func() {})
	w.shop(t, "ns", "cat", pulled)
	var p *v1alpha1.InstallPlan
	for range 20 {
		if result, err := w.reconcile(t); err != nil {
			t.Fatal(err)
		} else if p = w.plan(t, "plan"); result.RequeueAfter > 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	lookup := p.Status.BundleLookups
	if len(lookup) != 1 || len(lookup[0].Conditions) != 1 || lookup[0].Path != pulled.image {
		t.Fatalf("%s: %s; lookups %+v", p.Status.Phase, p.Status.Message, lookup)
	}
	failed := lookup[0].GetCondition(v1alpha1.BundleLookupFailed)
	if failed.Status != corev1.ConditionTrue || failed.Reason != "Unauthorized" || failed.LastTransitionTime == nil || !strings.Contains(failed.Message, "403") {
		t.Errorf("condition %+v", failed)
	}
	must.Equal(t, p.Status.Message, p.Status.Phase, v1alpha1.InstallPlanPhasePlanning)
	must.Equal(t, "message", p.Status.Message, failed.Message)
	w.shop(t, "ns", "cat", lone) // another content of the catalog, with the bundle in it
	if p = w.settle(t, time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseComplete || len(p.Status.BundleLookups[0].Conditions) != 0 {
		t.Errorf("%s: %s; lookups %+v", p.Status.Phase, p.Status.Message, p.Status.BundleLookups)
	}
}
