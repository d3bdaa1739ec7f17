package snapshot

import (
	"strings"
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/version"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func csv(name string, phase v1alpha1.ClusterServiceVersionPhase, annotation string) v1alpha1.ClusterServiceVersion {
	c := v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1alpha1.ClusterServiceVersionStatus{Phase: phase}}
	if annotation != "" {
		c.Annotations = map[string]string{v1alpha1.PropertiesAnnotation: annotation}
	}
	if err := c.Spec.Version.UnmarshalJSON([]byte(`"1.0.0"`)); err != nil {
		panic(err)
	}
	c.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: "as.example.com", Version: "v1", Kind: "A"}}
	c.Spec.CustomResourceDefinitions.Required = []v1alpha1.CRDDescription{{Name: "bs.example.com", Version: "v1", Kind: "B"}}
	c.Spec.APIServiceDefinitions.Required = []v1alpha1.APIServiceDescription{{Group: "served.example.com", Version: "v1", Kind: "C"}}
	return c
}

func sub(name, pkg, installed string) v1alpha1.Subscription {
	return v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:   &v1alpha1.SubscriptionSpec{Package: pkg, CatalogSource: "cat", CatalogSourceNamespace: "olm"},
		Status: v1alpha1.SubscriptionStatus{CurrentCSV: installed, InstalledCSV: installed}}
}

func gvk(group, kind string) catalog.GVK { return catalog.GVK{Group: group, Version: "v1", Kind: kind} }

func TestOperators(t *testing.T) {
	recorded := `{"properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"g","version":"v1","kind":"X"}},
		{"type":"olm.package.required","value":{"packageName":"b","versionRange":">=1.0.0"}},{"type":"olm.package.required","value":{"packageName":"c","versionRange":"~~"}}]}`
	atLeastOne := must.Value(version.ParseRange(">=1.0.0"))(t)
	fromSpec := resolution.Operator{Name: "a.v1", Settled: true, Provides: []catalog.GVK{gvk("example.com", "A")},
		Requires: []catalog.GVK{gvk("example.com", "B"), gvk("served.example.com", "C")}}
	named := fromSpec
	named.Package = "a"
	failed := fromSpec
	failed.Settled, failed.Failed, failed.Phase = false, true, "Failed"
	forward := failed
	forward.Settled, forward.Phase = true, ""
	tests := map[string]struct {
		csv         v1alpha1.ClusterServiceVersion
		subs        []v1alpha1.Subscription
		failForward bool
		want        resolution.Operator
	}{
		"its spec tells, CRDs and aggregated APIs": {csv: csv("a.v1", v1alpha1.CSVPhaseSucceeded, ""), want: fromSpec},
		"recorded properties replace its spec, those that cannot be read are left out": {csv: csv("a.v1", v1alpha1.CSVPhaseSucceeded, recorded),
			want: resolution.Operator{Name: "a.v1", Package: "a", Settled: true, Provides: []catalog.GVK{gvk("g", "X")}, Packages: []resolution.PackageRequirement{{Package: "b", Range: atLeastOne}}}},
		"an annotation that cannot be read is as none":        {csv: csv("a.v1", v1alpha1.CSVPhaseSucceeded, "{"), want: fromSpec},
		"its only Subscription tells the package":             {csv: csv("a.v1", v1alpha1.CSVPhaseSucceeded, ""), subs: []v1alpha1.Subscription{sub("s", "a", "a.v1")}, want: named},
		"of two Subscriptions that disagree none is believed": {csv: csv("a.v1", v1alpha1.CSVPhaseSucceeded, ""), subs: []v1alpha1.Subscription{sub("s", "a", "a.v1"), sub("t", "b", "a.v1")}, want: fromSpec},
		"one that failed is not replaced":                     {csv: csv("a.v1", v1alpha1.CSVPhaseFailed, ""), want: failed},
		"one that failed is, where the group says so":         {csv: csv("a.v1", v1alpha1.CSVPhaseFailed, ""), failForward: true, want: forward},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			n := Namespace{Name: "ns", Subscriptions: test.subs, Operators: []v1alpha1.ClusterServiceVersion{test.csv}}
			if test.failForward {
				n.Groups = []operatorsv1.OperatorGroup{{Spec: operatorsv1.OperatorGroupSpec{UpgradeStrategy: operatorsv1.UpgradeStrategyUnsafeFailForward}}}
			}
			in, _ := n.Input()
			got := in.Operators[0]
			test.want.Version = test.csv.Spec.Version.Version
			got.Properties = nil
			must.Equal(t, "got", got, test.want, cmp.Comparer(func(a, b version.Range) bool { return a.Equal(b) }))
		})
	}
}

func TestSubscriptions(t *testing.T) {
	generated := sub("g", "a", "")
	generated.Annotations = map[string]string{v1alpha1.GeneratedByAnnotation: "install-1"}
	generated.Spec.StartingCSV = "a.v1"
	moved := sub("s", "a", "a.v0")
	moved.Status.CurrentCSV = "a.v1"
	done := v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Name: "install-1"}, Spec: v1alpha1.InstallPlanSpec{ClusterServiceVersionNames: []string{"a.v1"}},
		Status: v1alpha1.InstallPlanStatus{Phase: v1alpha1.InstallPlanPhaseComplete}}
	there := []v1alpha1.ClusterServiceVersion{csv("a.v1", v1alpha1.CSVPhaseSucceeded, "")}
	tests := map[string]struct {
		sub       v1alpha1.Subscription
		operators []v1alpha1.ClusterServiceVersion
		plans     []v1alpha1.InstallPlan
		installed string
		idle      bool
	}{
		"what its status says, if that exists":                    {sub: sub("s", "a", "a.v1"), operators: there, installed: "a.v1"},
		"what it moved to last":                                   {sub: moved, operators: there, installed: "a.v1"},
		"what a plan made it for":                                 {sub: generated, operators: there, installed: "a.v1"},
		"nothing, when that is gone":                              {sub: sub("s", "a", "a.v1")},
		"left alone, when somebody deleted what a plan installed": {sub: sub("s", "a", "a.v1"), plans: []v1alpha1.InstallPlan{done}, idle: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			n := Namespace{Name: "ns", Subscriptions: []v1alpha1.Subscription{test.sub}, Operators: test.operators, Plans: test.plans}
			in, idle := n.Input()
			if _, got := idle[test.sub.Name]; got != test.idle || len(in.Subscriptions) == 0 != test.idle {
				t.Fatalf("left alone: %v", idle)
			}
			if !test.idle && in.Subscriptions[0].Installed != test.installed {
				t.Errorf("stands for %q, want %q", in.Subscriptions[0].Installed, test.installed)
			}
		})
	}
}

// TestASuccessorStandsForWhatItReplaced: the manager may be stopped between making a plan and saying so in the Subscription, and find when it
// starts that the plan is complete and the version before is gone.
func TestASuccessorStandsForWhatItReplaced(t *testing.T) {
	ofPackage := func(name, replaces, pkg string) v1alpha1.ClusterServiceVersion {
		c := csv(name, v1alpha1.CSVPhaseSucceeded, `{"properties":[{"type":"olm.package","value":{"packageName":"`+pkg+`","version":"2.0.0"}}]}`)
		c.Spec.Replaces = replaces
		return c
	}
	complete := v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Name: "install-1"},
		Spec: v1alpha1.InstallPlanSpec{ClusterServiceVersionNames: []string{"a.v1"}}, Status: v1alpha1.InstallPlanStatus{Phase: v1alpha1.InstallPlanPhaseComplete}}
	for name, tc := range map[string]struct {
		operator  v1alpha1.ClusterServiceVersion
		installed string
	}{
		"the next version":           {ofPackage("a.v2", "a.v1", "a"), "a.v2"},
		"one of another package":     {ofPackage("b.v2", "a.v1", "b"), ""},
		"one that replaces nothing":  {ofPackage("a.v2", "", "a"), ""},
		"one that replaces another":  {ofPackage("a.v3", "a.v2", "a"), ""},
		"one that tells no package":  {func() v1alpha1.ClusterServiceVersion { c := csv("a.v2", "", ""); c.Spec.Replaces = "a.v1"; return c }(), ""},
		"the version that is stated": {ofPackage("a.v1", "a.v0", "a"), "a.v1"},
	} {
		n := Namespace{Name: "ns", Subscriptions: []v1alpha1.Subscription{sub("s", "a", "a.v1")}, Operators: []v1alpha1.ClusterServiceVersion{tc.operator}, Plans: []v1alpha1.InstallPlan{complete}}
		in, idle := n.Input()
		must.Equal(t, name+": installed", n.Installed(&n.Subscriptions[0]), tc.installed)
		if takesPart := len(in.Subscriptions) == 1; takesPart != (tc.installed != "") {
			t.Errorf("%s: it takes part in the decision: %t, %v", name, takesPart, idle)
		}
	}
}

// TestWhatIsReplacedByNothingMayBeReplaced: what replaced it was deleted, and it does not go back by itself.
func TestWhatIsReplacedByNothingMayBeReplaced(t *testing.T) {
	recorded := `{"properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}}]}`
	next := csv("a.v2", v1alpha1.CSVPhaseInstalling, recorded)
	next.Spec.Replaces = "a.v1"
	itself := csv("a.v1", v1alpha1.CSVPhaseReplacing, recorded)
	itself.Spec.Replaces = "a.v1"
	done := v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Name: "install-1"},
		Spec: v1alpha1.InstallPlanSpec{ClusterServiceVersionNames: []string{"a.v2"}}, Status: v1alpha1.InstallPlanStatus{Phase: v1alpha1.InstallPlanPhaseComplete}}
	other := sub("s", "b", "a.v2")
	none := sub("s", "a", "")
	for name, tc := range map[string]struct {
		sub       v1alpha1.Subscription
		operators []v1alpha1.ClusterServiceVersion
		plans     []v1alpha1.InstallPlan
		installed string
		settled   bool
		idle      bool
	}{
		"the next version is there":                       {sub("s", "a", "a.v2"), []v1alpha1.ClusterServiceVersion{csv("a.v1", v1alpha1.CSVPhaseReplacing, recorded), next}, nil, "a.v2", false, false},
		"it was deleted":                                  {sub("s", "a", "a.v2"), []v1alpha1.ClusterServiceVersion{csv("a.v1", v1alpha1.CSVPhaseReplacing, recorded)}, nil, "a.v1", true, false},
		"it was deleted, and its plan is there":           {sub("s", "a", "a.v2"), []v1alpha1.ClusterServiceVersion{csv("a.v1", v1alpha1.CSVPhaseReplacing, recorded)}, []v1alpha1.InstallPlan{done}, "a.v1", true, true},
		"it says that it replaces itself":                 {sub("s", "a", "a.v2"), []v1alpha1.ClusterServiceVersion{itself}, nil, "a.v1", true, false},
		"it waits for something else":                     {sub("s", "a", "a.v1"), []v1alpha1.ClusterServiceVersion{csv("a.v1", v1alpha1.CSVPhasePending, recorded)}, nil, "a.v1", false, false},
		"the Subscription asks for another package":       {other, []v1alpha1.ClusterServiceVersion{csv("a.v1", v1alpha1.CSVPhaseReplacing, recorded)}, nil, "", true, false},
		"the Subscription has never had anything, as yet": {none, []v1alpha1.ClusterServiceVersion{csv("a.v1", v1alpha1.CSVPhaseReplacing, recorded)}, nil, "", true, false},
	} {
		n := Namespace{Name: "ns", Subscriptions: []v1alpha1.Subscription{tc.sub}, Operators: tc.operators, Plans: tc.plans}
		in, idle := n.Input()
		must.Equal(t, name+": installed", n.Installed(&tc.sub), tc.installed)
		must.Equal(t, name+": settled", in.Operators[0].Settled, tc.settled)
		if (idle["s"] != "") != tc.idle || tc.idle && !strings.Contains(idle["s"], "a.v1, which it was replacing") {
			t.Errorf("%s: left alone: %q", name, idle["s"])
		}
	}
}

func TestAnnotationsOfTheOperatorGroup(t *testing.T) {
	og := func(key string) operatorsv1.OperatorGroup {
		return operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{key: "true"}}}
	}
	for key, want := range map[string]resolution.NamespaceRequest{
		TogetherAnnotation: {Namespace: "ns", Together: true}, AnyCatalogAnnotation: {Namespace: "ns", AnyCatalog: true}, "other": {Namespace: "ns"},
	} {
		n := Namespace{Name: "ns", Groups: []operatorsv1.OperatorGroup{og(key)}}
		if in, _ := n.Input(); in.Together != want.Together || in.AnyCatalog != want.AnyCatalog {
			t.Errorf("%s: together %t, from any catalog %t", key, in.Together, in.AnyCatalog)
		}
		n.Groups = append(n.Groups, og(key))
		if in, _ := n.Input(); in.Together || in.AnyCatalog {
			t.Errorf("%s counts although there are two OperatorGroups", key)
		}
	}
}

func TestMisreadAnnotations(t *testing.T) {
	for value, told := range map[string]int{"true": 0, "false": 0, "yes": 1, "True": 1, "": 1} {
		n := Namespace{Name: "ns", Groups: []operatorsv1.OperatorGroup{{ObjectMeta: metav1.ObjectMeta{Name: "og", Annotations: map[string]string{TogetherAnnotation: value}}}}}
		notes := n.Misread()
		if len(notes) != told || told == 1 && (!strings.Contains(notes[0], TogetherAnnotation) || !strings.Contains(notes[0], "OperatorGroup og")) {
			t.Errorf("value %q: got %q", value, notes)
		}
		if in, _ := n.Input(); in.Together != (value == "true") {
			t.Errorf("value %q: decided on together: %t", value, in.Together)
		}
	}
	if notes := (&Namespace{}).Misread(); notes != nil {
		t.Errorf("without OperatorGroup: %q", notes)
	}
}

func TestSources(t *testing.T) {
	source := Source{Object: v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "cat"}, Spec: v1alpha1.CatalogSourceSpec{Priority: 7}},
		Served: catalogstore.Entry{Problem: "refused"}}
	n := Namespace{Sources: []Source{source}}
	in, _ := n.Input()
	if s := in.Sources[0]; s.Ref.String() != "olm/cat" || s.Priority != 7 || s.Problem != "refused" || s.Index != nil {
		t.Errorf("got %+v", s)
	}
	if n.Source(source.Ref()) == nil || n.Source(catalog.Ref{Name: "other"}) != nil || source.Healthy() {
		t.Error("a source is not found, found where there is none, or healthy without content")
	}
}
