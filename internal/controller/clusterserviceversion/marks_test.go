package clusterserviceversion

import (
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// TestFinalizerDoesNotWaitForAGroup: what an InstallPlan makes for the cluster has to go with the CSV, whether its
// OperatorGroup was ever in order or not.
func TestFinalizerDoesNotWaitForAGroup(t *testing.T) {
	second := newGroup(ns)
	second.Name = "second"
	for name, groups := range map[string][]object{
		"no group": nil, "two groups": {newGroup(ns), second}, "no target": {newGroup()},
	} {
		t.Run(name, func(t *testing.T) {
			csv := newCSV("op.v1", func(csv *v1alpha1.ClusterServiceVersion) {
				csv.Annotations = map[string]string{"mine": "stays"}
			})
			k := newCluster(t, append(groups, csv)...)
			got := k.pass("op.v1")
			must.Equal(t, "finalizers", got.Finalizers, []string{"operators.coreos.com/csv-cleanup"})
			must.Equal(t, "annotations", got.Annotations, map[string]string{"mine": "stays"})
			k.create(permissions(t, csv)...)
			k.delete(got)
			k.goes("op.v1")
			must.Empty(t, "ClusterRoles are left", k.clusterRoles())
		})
	}
}

// TestAPILabels: the hashes are those of the specification, and follow the spec of the CSV.
func TestAPILabels(t *testing.T) {
	csv := newCSV("op.v1", func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Labels = map[string]string{"mine": "stays", "olm.api.0123456789abcdef": "provided"}
		csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: "ghosts.ghouls", Version: "v1alpha1", Kind: "Ghost"}}
		csv.Spec.CustomResourceDefinitions.Required = []v1alpha1.CRDDescription{
			{Name: "etcdclusters.etcd.database.coreos.com", Version: "v1beta2", Kind: "EtcdCluster"}, {Name: "ghosts.ghouls", Version: "v1alpha1", Kind: "Ghost"},
		}
	})
	k := newCluster(t, csv)
	want := map[string]string{"mine": "stays", "olm.api.6435ab0d7c6bda64": "provided", "olm.api.c571d720f17289d3": "required"}
	must.Equal(t, "labels", k.pass("op.v1").Labels, want)
	edit(k, ns, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.CustomResourceDefinitions.Required = nil
	})
	delete(want, "olm.api.c571d720f17289d3")
	must.Equal(t, "labels after the edit", k.pass("op.v1").Labels, want)
}
