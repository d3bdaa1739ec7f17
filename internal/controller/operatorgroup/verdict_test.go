package operatorgroup

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/test/golden"
	"fairlead.dev/fairlead/test/must"
)

// TestVerdicts has every condition that a group may have, and the verdict on it.
func TestVerdicts(t *testing.T) {
	account := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "limited"}}
	states := map[string]any{}
	for name, test := range map[string]struct {
		seen    observed
		account bool // whether the group names a service account
		want    string
	}{
		"all namespaces":                 {observed{targets: []string{""}}, false, "Ready=True/TargetNamespacesSelected"},
		"some namespaces":                {observed{targets: []string{"a", "b"}}, false, "Ready=True/TargetNamespacesSelected"},
		"its account is there":           {observed{targets: []string{"a"}, account: account}, true, "Ready=True/TargetNamespacesSelected"},
		"its account is missing":         {observed{targets: []string{"a"}}, true, "Ready=False/ServiceAccountNotFound Reconciling=True"},
		"its selector matches nothing":   {observed{targets: []string{}}, false, "Ready=False/NoTargetNamespaces Reconciling=True"},
		"several in the namespace":       {observed{targets: []string{"a"}, groups: []string{"one", "two"}}, false, "Ready=False/MultipleOperatorGroupsFound Stalled=True"},
		"its targets cannot be told":     {observed{invalid: errors.New("spec.selector cannot be read")}, false, "Ready=False/InvalidTargetNamespaces Stalled=True"},
		"its name is too long":           {observed{targets: []string{"a"}, unlabelable: errors.New("its name has 70 characters")}, false, "Ready=False/InvalidName Stalled=True"},
		"several, and no account":        {observed{targets: []string{"a"}, groups: []string{"one", "two"}}, true, "Ready=False/MultipleOperatorGroupsFound Stalled=True"},
		"no account, nothing is matched": {observed{}, true, "Ready=False/ServiceAccountNotFound Reconciling=True"},
	} {
		t.Run(name, func(t *testing.T) {
			group := &v1.OperatorGroup{}
			if group.Generation = 4; test.account {
				group.Spec.ServiceAccountName = "limited"
			}
			group.Status = status(group, &test.seen, time.Unix(1000, 0))
			got := ""
			for _, c := range group.Status.Conditions {
				switch c.Type {
				case "Ready":
					got = c.Type + "=" + string(c.Status) + "/" + c.Reason
				case "Reconciling", "Stalled":
					got += " " + c.Type + "=" + string(c.Status)
				}
			}
			must.Equal(t, "verdict", got, test.want)
			must.Equal(t, "observed generation", group.Status.ObservedGeneration, 4)
			must.Equal(t, "the same later", status(group, &test.seen, time.Unix(2000, 0)), group.Status)
			states[name] = group
		})
	}
	golden.States(t, "testdata/states.txtar", v1.GroupVersion.String(), v1.OperatorGroupKind, states)
}

// TestVerdictIsNoChange: the time of the last change, by which groups that provide the same API are ordered, is that of the selection. A manager that
// adds a verdict to the status that one without them has left does not move it.
func TestVerdictIsNoChange(t *testing.T) {
	group, seen := &v1.OperatorGroup{}, &observed{targets: []string{"a"}}
	group.Generation = 1
	group.Status = status(group, seen, time.Unix(1000, 0))
	group.Status.Conditions, group.Status.ObservedGeneration = nil, 0 // as before
	after := status(group, seen, time.Unix(2000, 0))
	must.Equal(t, "changed", after.LastUpdated.Unix(), 1000)
	must.Equal(t, "conditions", len(after.Conditions), 1)
	must.Equal(t, "is written", sameStatus(&group.Status, &after), false)
	group.Generation = 2
	must.Equal(t, "changed by another generation with the same targets", status(group, seen, time.Unix(3000, 0)).LastUpdated.Unix(), 1000)
	before := v1.OperatorGroupStatus{ObservedGeneration: -1, LastUpdated: &metav1.Time{Time: time.Unix(0, 0)}}
	must.Equal(t, "selected before the first pass", before.IsSelected(), false)
	group.Status = before
	must.Equal(t, "changed by the first pass", status(group, &observed{}, time.Unix(4000, 0)).LastUpdated.Unix(), 4000)
}
