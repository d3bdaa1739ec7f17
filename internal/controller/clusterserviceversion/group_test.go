package clusterserviceversion

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

func noModes(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.InstallModes = nil }

// TestModesAndGroups holds the verdict and the advice for each install mode and each kind of group against the golden
// file.
func TestModesAndGroups(t *testing.T) {
	groups := [][]string{{ns}, {"other"}, {"one", "other"}, {ns, "other"}, {""}}
	sets := [][]v1alpha1.InstallModeType{
		{"OwnNamespace"}, {"SingleNamespace"}, {"MultiNamespace"}, {"AllNamespaces"}, {"OwnNamespace", "MultiNamespace"}, {"SingleNamespace", "AllNamespaces"}, {},
	}
	var text strings.Builder
	for _, set := range sets {
		for _, targets := range groups {
			csv := newCSV("op.v1", noModes)
			for _, mode := range set {
				csv.Spec.InstallModes = append(csv.Spec.InstallModes, v1alpha1.InstallMode{Type: mode, Supported: true})
			}
			k := newCluster(t, csv, newGroup(targets...))
			status := k.pass("op.v1").Status
			fmt.Fprintf(&text, "%v in a group of %q:\n    %s/%s", set, targets, status.Phase, status.Reason)
			if status.Phase == toFailed {
				fmt.Fprintf(&text, " %s", status.Message)
			}
			text.WriteString("\n")
		}
	}
	golden(t, "testdata/modes.golden", text.String())
}

func TestGates(t *testing.T) {
	unsynced := newGroup("")
	unsynced.Status = v1.OperatorGroupStatus{}
	invalid := newGroup("")
	invalid.Status.Namespaces = nil
	invalid.Status.Conditions = []metav1.Condition{{Type: "OperatorGroupInvalid", Status: metav1.ConditionTrue, Message: "spec.selector cannot be read"}}
	second := newGroup(ns)
	second.Name = "another"
	tests := map[string]struct {
		groups  []*v1.OperatorGroup
		edit    func(*v1alpha1.ClusterServiceVersion)
		phase   phase
		reason  reason
		message string
	}{
		"no group": {
			phase: toFailed, reason: "NoOperatorGroup",
			message: `csv in namespace with no operatorgroups: the operator supports AllNamespaces, MultiNamespace, OwnNamespace, SingleNamespace: apply {"apiVersion":"operators.coreos.com/v1","kind":"OperatorGroup","metadata":{"name":"operators","namespace":"operators"},"spec":{"targetNamespaces":["operators"]}}`,
		},
		"two groups": {
			groups: []*v1.OperatorGroup{newGroup(ns), second}, phase: toFailed, reason: "TooManyOperatorGroups",
			message: "csv in namespace with multiple operatorgroups, none can be picked automatically: another, group; delete all but one",
		},
		"a group that has not selected yet": {
			groups: []*v1.OperatorGroup{unsynced}, phase: toPending, reason: "RequirementsUnknown",
			message: "waiting for OperatorGroup group to select its target namespaces",
		},
		"a group that cannot select": {
			groups: []*v1.OperatorGroup{invalid}, phase: toPending, reason: "RequirementsUnknown",
			message: "waiting for OperatorGroup group to select its target namespaces: spec.selector cannot be read",
		},
		"a group that selects nothing": {
			groups: []*v1.OperatorGroup{newGroup()}, phase: toFailed, reason: "NoTargetNamespaces",
			message: "OperatorGroup group selects no namespace: label a namespace to match its spec.selector, or name one in its spec.targetNamespaces",
		},
		"a mode listed twice": {
			groups: []*v1.OperatorGroup{newGroup("")}, phase: toFailed, reason: "InvalidInstallModes",
			edit: func(csv *v1alpha1.ClusterServiceVersion) {
				csv.Spec.InstallModes = append(csv.Spec.InstallModes, csv.Spec.InstallModes[0])
			},
			message: "InstallModes contain OwnNamespace more than once: name each install mode once",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			csv := newCSV("op.v1")
			if tc.edit != nil {
				tc.edit(csv)
			}
			k := newCluster(t, csv)
			for _, g := range tc.groups {
				k.create(g.DeepCopy())
			}
			expect(t, k.pass("op.v1"), tc.phase, tc.reason, tc.message)

			// It stays like this without a write, and goes on once the namespace has one good group.
			k.rests("op.v1")
			for _, g := range tc.groups {
				k.delete(g.DeepCopy())
			}
			k.create(newGroup(""))
			edit(k, ns, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) {
				csv.Spec.InstallModes = []v1alpha1.InstallMode{{Type: "AllNamespaces", Supported: true}}
			})
			expect(t, k.pass("op.v1"), toPending, "RequirementsNotMet", "")
		})
	}
}

func TestAdoption(t *testing.T) {
	csv := newCSV("op.v1", func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Annotations = map[string]string{"mine": "stays"}
		csv.Finalizers = []string{"example.com/other"}
	})
	k := newCluster(t, csv, newGroup("b", "a"))
	got := k.pass("op.v1")
	want := map[string]string{"mine": "stays", "olm.operatorGroup": "group", "olm.operatorNamespace": ns, "olm.targetNamespaces": "a,b"}
	must.Equal(t, "annotations", got.Annotations, want)
	must.Equal(t, "finalizers", got.Finalizers, []string{"example.com/other", "operators.coreos.com/csv-cleanup"})
}

func TestCopiesAreLeftAlone(t *testing.T) {
	copied := map[string]func(*v1alpha1.ClusterServiceVersion){
		"by label": func(csv *v1alpha1.ClusterServiceVersion) {
			csv.Labels = map[string]string{"olm.copiedFrom": "elsewhere"}
		},
		"by annotation": func(csv *v1alpha1.ClusterServiceVersion) {
			csv.Annotations = map[string]string{"olm.operatorNamespace": "elsewhere"}
		},
		"by status": func(csv *v1alpha1.ClusterServiceVersion) { csv.Status.Reason = "Copied" },
	}
	for name, edit := range copied {
		t.Run(name, func(t *testing.T) {
			k := newCluster(t, newCSV("op.v1", edit), newGroup(ns))
			k.pass("op.v1")
			must.Empty(t, "writes", k.wrote())
		})
	}
}
