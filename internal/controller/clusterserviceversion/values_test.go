package clusterserviceversion

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// TestMembership judges OperatorGroups as values.
func TestMembership(t *testing.T) {
	unselected, invalid, other := newGroup(), newGroup(), newGroup("x")
	unselected.Status.LastUpdated = nil
	invalid.Status.Conditions = []metav1.Condition{{Type: "OperatorGroupInvalid", Status: metav1.ConditionTrue, Message: "no"}}
	other.Name = "other"
	account := newGroup("x")
	account.Spec.ServiceAccountName = "installer"
	forward := newGroup("x")
	forward.Spec.UpgradeStrategy = v1.UpgradeStrategyUnsafeFailForward
	judges := map[string]func(membership) bool{
		"none":            func(m membership) bool { return m.none(newCSV("a")).holds },
		"several":         func(m membership) bool { return m.several(nil).holds },
		"unsynced":        func(m membership) bool { return m.unsynced(nil).holds },
		"without targets": func(m membership) bool { return m.withoutTargets(nil).holds },
		"account missing": func(m membership) bool { return m.accountMissing(nil).holds },
		"fails forward":   membership.failsForward,
		"refuses":         func(m membership) bool { _, err := m.decider(ns); return isOurRefusal(err) },
		"annotates":       func(m membership) bool { return m.annotations() != nil },
		"names account":   func(m membership) bool { return m.installedAs() != "" },
	}
	for name, tc := range map[string]struct {
		groups membership
		want   []string
	}{
		"no group":                        {nil, []string{"none", "refuses"}},
		"two groups":                      {membership{*newGroup("x"), *other}, []string{"refuses", "several"}},
		"a group that has not selected":   {membership{*unselected}, []string{"unsynced", "without targets"}},
		"a group that cannot select":      {membership{*invalid}, []string{"unsynced", "without targets"}},
		"a group that selects none":       {membership{*newGroup()}, []string{"without targets"}},
		"a group with targets":            {membership{*newGroup("x")}, []string{"annotates"}},
		"a group with an account":         {membership{*account}, []string{"account missing", "annotates", "names account"}},
		"a group that lets versions fail": {membership{*forward}, []string{"annotates", "fails forward"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, name := range slices.Sorted(maps.Keys(judges)) {
				if judges[name](tc.groups) {
					got = append(got, name)
				}
			}
			must.Equal(t, "result", got, tc.want)
		})
	}
}

// TestEvidence judges requirements as values: one of each kind that is met, and one that is not.
func TestEvidence(t *testing.T) {
	csv := newCSV("op.v1", func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.MinKubeVersion = "1.36.0"
		csv.Spec.CustomResourceDefinitions.Required = []v1alpha1.CRDDescription{{Name: "things.example.com", Version: "v1", Kind: "Thing"}}
		csv.Spec.NativeAPIs = []metav1.GroupVersionKind{{Group: "apps", Version: "v1", Kind: "Deployment"}}
	})
	account := accountEvidence{account: &metav1.PartialObjectMetadata{}, cluster: []rbacv1.PolicyRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}}}
	for name, tc := range map[string]struct {
		change    func(*evidence)
		unmet     string
		unwatched bool
	}{
		"all are met": {func(*evidence) {}, "", false},
		"an old cluster": {func(e *evidence) { e.version = "v1.20.0" },
			"ClusterServiceVersion op.v1: PresentNotSatisfied, CSV version requirement not met: minKubeVersion (1.36.0) > server version (1.20.0)", true},
		"no CRD":              {func(e *evidence) { e.crds = nil }, "CustomResourceDefinition things.example.com: NotPresent, CRD is not present", false},
		"an API is not there": {func(e *evidence) { e.served = nil }, "Deployment v1.apps: NotPresent, the cluster does not serve this API", true},
		"no service account":  {func(e *evidence) { e.accounts = nil }, "ServiceAccount account: NotPresent, Service account does not exist", false},
		"its rules are in its namespace": {func(e *evidence) {
			e.accounts["account"] = accountEvidence{account: account.account, namespaced: account.cluster}
		}, `ServiceAccount account: PresentNotSatisfied, Service account lacks permissions: cluster rule:{"verbs":["get"],"apiGroups":[""],"resources":["nodes"]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := &evidence{version: "v1.36.3", crds: map[string]*apiextensionsv1.CustomResourceDefinition{"things.example.com": newCRD("things.example.com", "v1")},
				served: map[schema.GroupVersionKind]bool{{Group: "apps", Version: "v1", Kind: "Deployment"}: true}, accounts: map[string]accountEvidence{"account": account}}
			tc.change(e)
			chain := newChain([]*v1alpha1.ClusterServiceVersion{csv})
			chain.csv = csv
			got := must.Value(e.check(t.Context(), chain, time.Now()))(t)
			if found := got.notMet(); found.detail != tc.unmet || found.holds != (tc.unmet != "") || got.unwatched != tc.unwatched {
				t.Errorf("%q, unwatched %t", found.detail, got.unwatched)
			}
		})
	}
}

// TestOutgrown judges which CSVs hand over because the CRD of a next one is there.
func TestOutgrown(t *testing.T) {
	for name, tc := range map[string]struct {
		csvs   []string
		served string
		pinned error
		want   bool
	}{
		"the next one owns the version that is served": {[]string{"a", "b>a"}, "vb", nil, true},
		"one after the next does":                      {[]string{"a", "b>a", "c>b"}, "vc", nil, true},
		"its own version is served":                    {[]string{"a", "b>a"}, "va", nil, false},
		"no successor owns it":                         {[]string{"a", "b>a"}, "vx", nil, false},
		"no successor":                                 {[]string{"a"}, "vb", nil, false},
		"the operator is pinned":                       {[]string{"a", "b>a"}, "vb", errUnsettled, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := chainOf(tc.csvs...)
			for _, csv := range c.all {
				csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: "things.example.com", Version: "v" + csv.Name}}
			}
			c.csv, c.pinned = c.byName["a"], map[string]error{"a": tc.pinned}
			crds := map[string]*apiextensionsv1.CustomResourceDefinition{"things.example.com": newCRD("things.example.com", tc.served)}
			must.Equal(t, "outgrown", c.outgrown(crds).holds, tc.want)
		})
	}
}

// TestAfter: an action's effect replaces what it has changed, and keeps what else was observed.
func TestAfter(t *testing.T) {
	before := &snapshot{observer: &observer{csv: newCSV("a")}, due: &due{}, findings: map[observation]finding{drifted: seen("")},
		groupsRead: memo[membership]{known: true}, chainRead: memo[*chain]{known: true}, workloadRead: memo[*workload]{known: true},
		hooksRead: memo[*hooks]{known: true}, liveRead: memo[deployments]{known: true}, certificatesRead: memo[certificates]{known: true}}
	read := func(s *snapshot) []bool {
		return []bool{s.groupsRead.known, s.chainRead.known, s.certificatesRead.known, s.workloadRead.known, s.hooksRead.known, s.liveRead.known}
	}
	for name, tc := range map[string]struct {
		effect effect
		want   []bool // groups, chain, certificates, workload, hooks, Deployments
	}{
		"nothing":                  {effect{}, []bool{true, true, true, true, true, true}},
		"the marks were written":   {effect{csv: newCSV("a")}, []bool{true, false, true, false, false, true}},
		"certificates were issued": {effect{certificates: certificates{}}, []bool{true, true, true, false, false, true}},
		"Deployments were applied": {effect{applied: deployments{}}, []bool{true, true, true, false, true, false}},
		"permissions were removed": {effect{withdrawn: true}, []bool{true, true, true, false, true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			after := before.after(tc.effect)
			if diff := cmp.Diff(tc.want, read(after)); diff != "" || len(after.findings) > 0 {
				t.Errorf("findings %v, (-want +got):\n%s", after.findings, diff)
			}
			if len(before.findings) != 1 || cmp.Diff([]bool{true, true, true, true, true, true}, read(before)) != "" {
				t.Error("the snapshot before was changed")
			}
		})
	}
}
