package copiedcsv

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

func TestStanding(t *testing.T) {
	status := func(phase v1alpha1.ClusterServiceVersionPhase, reason v1alpha1.ConditionReason) func(*v1alpha1.ClusterServiceVersion) {
		return func(c *v1alpha1.ClusterServiceVersion) { c.Status.Phase, c.Status.Reason = phase, reason }
	}
	unsynced := group("a")
	unsynced.Status.LastUpdated = nil
	tests := map[string]struct {
		how    func(*v1alpha1.ClusterServiceVersion)
		groups []*v1.OperatorGroup
		policy policy
		want   standing
	}{
		"targeted":                              {groups: []*v1.OperatorGroup{group("a")}, want: desired},
		"among others":                          {groups: []*v1.OperatorGroup{group("b", "a")}, want: desired},
		"all":                                   {groups: []*v1.OperatorGroup{group("")}, want: desired},
		"not targeted":                          {groups: []*v1.OperatorGroup{group("b")}, want: absent},
		"a group that selects nothing":          {groups: []*v1.OperatorGroup{group()}, want: absent},
		"no group":                              {want: absent},
		"two groups":                            {groups: []*v1.OperatorGroup{group("a"), group("b")}, want: kept},
		"a group that has not selected yet":     {groups: []*v1.OperatorGroup{unsynced}, want: kept},
		"its own namespace":                     {groups: []*v1.OperatorGroup{group("a")}, how: func(c *v1alpha1.ClusterServiceVersion) { c.Namespace = "a" }, want: absent},
		"going":                                 {groups: []*v1.OperatorGroup{group("a")}, how: func(c *v1alpha1.ClusterServiceVersion) { c.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, want: absent},
		"a copy":                                {groups: []*v1.OperatorGroup{group("a")}, how: func(c *v1alpha1.ClusterServiceVersion) { c.Labels["olm.copiedFrom"] = "x" }, want: absent},
		"pending":                               {groups: []*v1.OperatorGroup{group("a")}, how: status("Pending", "RequirementsNotMet"), want: desired},
		"failed":                                {groups: []*v1.OperatorGroup{group("a")}, how: status("Failed", "ComponentUnhealthy"), want: desired},
		"not looked at yet":                     {groups: []*v1.OperatorGroup{group("a")}, how: status("", ""), want: kept},
		"no member":                             {groups: []*v1.OperatorGroup{group("a")}, how: status("Failed", "UnsupportedOperatorGroup"), want: kept},
		"no member and no target":               {groups: []*v1.OperatorGroup{group("b")}, how: status("Failed", "UnsupportedOperatorGroup"), want: absent},
		"twice the same mode":                   {groups: []*v1.OperatorGroup{group("a")}, how: status("Failed", "InvalidInstallModes"), want: kept},
		"static":                                {groups: []*v1.OperatorGroup{group("a")}, how: status("Failed", "CannotModifyStaticOperatorGroupProvidedAPIs"), want: kept},
		"in conflict":                           {groups: []*v1.OperatorGroup{group("a")}, how: status("Failed", "InterOperatorGroupOwnerConflict"), want: absent},
		"disabled":                              {groups: []*v1.OperatorGroup{group("")}, policy: policy{disabled: true}, want: absent},
		"disabled, protected":                   {groups: []*v1.OperatorGroup{group("")}, policy: policy{disabled: true, protected: []string{"x", "a"}}, want: desired},
		"disabled, but the group names the one": {groups: []*v1.OperatorGroup{group("a")}, policy: policy{disabled: true}, want: desired},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			csv := operator("op.v1")
			if test.how != nil {
				test.how(csv)
			}
			var groups []v1.OperatorGroup
			for _, g := range test.groups {
				groups = append(groups, *g)
			}
			must.Equal(t, "standing", test.policy.stand(csv, groups, "a"), test.want)
		})
	}
}

// TestCopiesFollowTheTargets: they come and go with them, and with their source.
func TestCopiesFollowTheTargets(t *testing.T) {
	k := newCluster(t, append(namespaces(ns, "a", "b", "c"), group("a", "b"), operator("op.v1"))...)
	targets := func(names ...string) func(*v1.OperatorGroup) {
		return func(g *v1.OperatorGroup) { g.Status.Namespaces = names }
	}
	expect := func(want string) {
		t.Helper()
		k.settle()
		must.Equal(t, "copies are in", k.where("op.v1"), want)
		k.quiet()
	}
	expect("a b")
	change(k, &v1.OperatorGroup{}, ns, "group", targets("b", "c"))
	expect("b c")
	change(k, &v1.OperatorGroup{}, ns, "group", targets(""))
	expect("a b c")
	change(k, &v1alpha1.ClusterServiceVersion{}, ns, "op.v1", func(c *v1alpha1.ClusterServiceVersion) {
		c.Status.Phase, c.Status.Reason = "Failed", "TooManyOperatorGroups"
	})
	expect("a b c")
	k.create(namespaces("d")[0])
	expect("a b c")
	change(k, &v1alpha1.ClusterServiceVersion{}, ns, "op.v1", func(c *v1alpha1.ClusterServiceVersion) {
		c.Status = operator("op.v1").Status
	})
	expect("a b c d")
	must.NoError(t, k.client.Delete(t.Context(), operator("op.v1")))
	expect("")
}
