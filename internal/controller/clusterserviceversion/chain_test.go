package clusterserviceversion

import (
	"fmt"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/test/must"
)

// chainOf makes CSVs from texts such as "b>a", b replaces a, and "b>a!" for one that is being deleted. Later ones are newer.
func chainOf(texts ...string) *chain {
	var csvs []*v1alpha1.ClusterServiceVersion
	for i, text := range texts {
		text, deleted := strings.CutSuffix(text, "!")
		name, replaces, _ := strings.Cut(text, ">")
		csv := newCSV(name)
		csv.Spec.Replaces = replaces
		csv.CreationTimestamp = metav1.NewTime(time.Unix(int64(i), 0))
		if deleted {
			csv.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		}
		csvs = append(csvs, csv)
	}
	return newChain(csvs)
}

func nameOf(csv *v1alpha1.ClusterServiceVersion) string {
	if csv == nil {
		return "-"
	}
	return csv.Name
}

func TestChain(t *testing.T) {
	tests := map[string]struct {
		csvs []string
		// of each: successor, last, predecessor
		want map[string]string
	}{
		"alone":                 {[]string{"a"}, map[string]string{"a": "- - -", "x": "- - -"}},
		"itself":                {[]string{"a>a"}, map[string]string{"a": "- - -"}},
		"two":                   {[]string{"a", "b>a"}, map[string]string{"a": "b b -", "b": "- - a"}},
		"three":                 {[]string{"a", "b>a", "c>b"}, map[string]string{"a": "b c -", "b": "c c a", "c": "- - b"}},
		"gone in the middle":    {[]string{"a", "c>b"}, map[string]string{"a": "- - -", "c": "- - -", "b": "c c -"}},
		"two for one":           {[]string{"a", "b>a", "c>a"}, map[string]string{"a": "c c -", "b": "- - a", "c": "- - a"}},
		"the newer one goes":    {[]string{"a", "b>a", "c>a!"}, map[string]string{"a": "b b -"}},
		"round in circles":      {[]string{"a>b", "b>a"}, map[string]string{"a": "- - -", "b": "- - -"}},
		"a wider circle":        {[]string{"a>c", "b>a", "c>b"}, map[string]string{"a": "- - -", "b": "- - -", "c": "- - -"}},
		"a circle with a tail":  {[]string{"a>b", "b>a", "c>b"}, map[string]string{"b": "c c -", "c": "- - b"}},
		"a circle of no return": {[]string{"a", "b>a", "c>d", "d>c"}, map[string]string{"a": "b b -", "b": "- - a"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := chainOf(tc.csvs...)
			for of, want := range tc.want {
				must.Equal(t, "successor, last and predecessor of "+of, fmt.Sprintf("%s %s %s", nameOf(c.successor(of)), nameOf(c.last(of)), nameOf(c.predecessor(of))), want)
			}
		})
	}
}

func TestRelated(t *testing.T) {
	c := chainOf("a", "b>a", "c>b", "x", "y>z", "z>y")
	for pair, want := range map[string]bool{"a c": true, "c a": true, "a b": true, "a x": false, "a a": false, "y z": true, "x y": false} {
		a, b, _ := strings.Cut(pair, " ")
		must.Equal(t, "related("+pair+")", c.related(a, b), want)
	}
}

func replacing(name string) func(*v1alpha1.ClusterServiceVersion) {
	return func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.Replaces = name }
}

// installed creates a CSV with its permissions and brings it to Succeeded.
func (k *cluster) installed(csv *v1alpha1.ClusterServiceVersion) {
	k.t.Helper()
	k.create(csv)
	k.create(permissions(k.t, csv)...)
	k.pass(csv.Name)
	k.rollOut()
	expect(k.t, k.pass(csv.Name), toSucceeded, "InstallSucceeded", "")
}

// withoutAccounts leaves the permissions out, so that several CSVs can be created without sharing service accounts.
func withoutAccounts(csv *v1alpha1.ClusterServiceVersion) {
	csv.Spec.InstallStrategy.StrategySpec.Permissions = nil
	csv.Spec.InstallStrategy.StrategySpec.ClusterPermissions = nil
}

func TestUpgrade(t *testing.T) {
	k := newCluster(t, newGroup(""))
	k.installed(newCSV("op.v1", withoutAccounts))
	k.create(newCSV("op.v2", withoutAccounts, replacing("op.v1")))

	expect(t, k.pass("op.v2"), toPending, "AllRequirementsMet",
		"all requirements found, waiting for ClusterServiceVersion op.v1, now Succeeded, to hand over: it does once it has succeeded")
	expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "being replaced by csv: op.v2")
	expect(t, k.pass("op.v2"), toInstalling, "InstallWaiting", "")
	expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "")
	k.rollsOut("op.v2")
	expect(t, k.pass("op.v1"), toDeleting, "Replaced", "replaced by csv: op.v2, which is installed")
	k.pass("op.v1")
	k.goes("op.v1")
	k.wrote()
	expect(t, k.pass("op.v2"), toSucceeded, "InstallSucceeded", "")
	must.Empty(t, "writes after the upgrade", k.wrote())
}

func TestUpgradeOverSeveralVersionsGoesFromTheOldestEnd(t *testing.T) {
	k := newCluster(t, newGroup(""))
	k.installed(newCSV("op.v1", withoutAccounts))
	k.create(newCSV("op.v2", withoutAccounts, replacing("op.v1")))
	k.pass("op.v1")
	k.pass("op.v2")
	k.rollsOut("op.v2")
	k.create(newCSV("op.v3", withoutAccounts, replacing("op.v2")))
	k.pass("op.v3")
	expect(t, k.pass("op.v2"), toReplacing, "BeingReplaced", "being replaced; waiting for ClusterServiceVersion op.v1, which this one replaces, to be deleted first")
	expect(t, k.pass("op.v1"), toDeleting, "Replaced", "")
	k.pass("op.v1")
	k.pass("op.v1")
	expect(t, k.pass("op.v3"), toInstalling, "InstallWaiting", "")
	k.rollOut()
	k.pass("op.v3")
	expect(t, k.pass("op.v2"), toDeleting, "Replaced", "")
}

func TestReplacementThatDisappears(t *testing.T) {
	k := newCluster(t, newGroup(""))
	k.installed(newCSV("op.v1", withoutAccounts))
	next := newCSV("op.v2", withoutAccounts, replacing("op.v1"))
	k.create(next)
	k.pass("op.v1")
	k.delete(k.csv("op.v2"))
	expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "no ClusterServiceVersion replaces this one any more: create one with spec.replaces op.v1, or delete this one")
}

func TestFailForward(t *testing.T) {
	group := newGroup("")
	group.Spec.UpgradeStrategy = v1.UpgradeStrategyUnsafeFailForward
	k := newCluster(t, group)
	missing := func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.MinKubeVersion = "9.9.9" }
	k.create(newCSV("op.v1", withoutAccounts, func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.InstallStrategy.StrategyName = "magic" }))
	expect(t, k.pass("op.v1"), toFailed, "InvalidInstallStrategy", "")
	k.create(newCSV("op.v2", withoutAccounts, replacing("op.v1")))
	expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "Fail Forward is enabled, allowing Failed csv to be replaced by csv: op.v2")
	k.create(newCSV("op.v3", withoutAccounts, replacing("op.v2"), missing))
	expect(t, k.pass("op.v2"), toInstalling, "InstallWaiting", "")
	k.rollOut()
	expect(t, k.pass("op.v2"), toReplacing, "BeingReplaced", "")
	// It is the last version of the chain that counts.
	expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "")
}

func TestCRDConflict(t *testing.T) {
	owns := func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: "things.example.com", Version: "v1", Kind: "Thing"}}
	}
	k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"), newCSV("first", withoutAccounts, owns), newCSV("second", withoutAccounts, owns))
	expect(t, k.pass("second"), toFailed, "OwnerConflict",
		"conflicting CRD owner in namespace: ClusterServiceVersion first owns CRD things.example.com too; delete one of the two, or let one replace the other")
	k.rests("second")
	k.delete(k.csv("first"))
	expect(t, k.pass("second"), toInstalling, "InstallWaiting", "")
}

// TestUpgradeWithoutAnOldVersionOfACRD: the CRD of the next version is there before its CSV, and lacks the version that the old CSV needs.
func TestUpgradeWithoutAnOldVersionOfACRD(t *testing.T) {
	owns := func(version string) func(*v1alpha1.ClusterServiceVersion) {
		return func(csv *v1alpha1.ClusterServiceVersion) {
			csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: "things.example.com", Version: version, Kind: "Thing"}}
		}
	}
	outgrown := func(t *testing.T) *cluster {
		k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"))
		k.installed(newCSV("op.v1", withoutAccounts, owns("v1")))
		edit(k, "", "things.example.com", &apiextensionsv1.CustomResourceDefinition{}, func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Versions[0].Name = "v2" })
		expect(t, k.pass("op.v1"), toPending, "RequirementsNotMet", "")
		return k
	}
	t.Run("it hands over", func(t *testing.T) {
		k := outgrown(t)
		k.create(newCSV("op.v2", withoutAccounts, owns("v2"), replacing("op.v1")))
		expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "being replaced by csv: op.v2")
		expect(t, k.pass("op.v2"), toInstalling, "InstallWaiting", "")
		k.rollsOut("op.v2")
		expect(t, k.pass("op.v1"), toDeleting, "Replaced", "")
	})
	for name, next := range map[string]func(*v1alpha1.ClusterServiceVersion){
		"the next version does not own the CRD":            func(*v1alpha1.ClusterServiceVersion) {},
		"the CRD is not the one that the next version has": owns("v3"),
		"the next version replaces another one":            func(csv *v1alpha1.ClusterServiceVersion) { owns("v2")(csv); csv.Spec.Replaces = "op.v0" },
	} {
		t.Run(name, func(t *testing.T) {
			k := outgrown(t)
			k.create(newCSV("op.v2", withoutAccounts, replacing("op.v1"), next))
			expect(t, k.pass("op.v1"), toPending, "RequirementsNotMet", "")
		})
	}
	t.Run("the operator must not be upgraded", func(t *testing.T) {
		k := outgrown(t)
		k.create(&v2.OperatorCondition{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "op.v1"},
			Spec: v2.OperatorConditionSpec{Overrides: []metav1.Condition{{Type: v2.ConditionUpgradeable, Status: metav1.ConditionFalse}}}})
		k.create(newCSV("op.v2", withoutAccounts, owns("v2"), replacing("op.v1")))
		expect(t, k.pass("op.v1"), toPending, "RequirementsNotMet", "")
	})
}
