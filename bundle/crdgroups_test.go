package bundle

import (
	"errors"
	"slices"
	"testing"

	"k8s.io/client-go/kubernetes/scheme"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

func TestCheckCRDName(t *testing.T) {
	for name, forbidden := range map[string]bool{
		"things.example.com":                             false,
		"servicebindings.binding.operators.coreos.com":   false, // of an operator that is widely used
		"operators.coreos.com":                           false, // a plural and the group coreos.com
		"installplans.operators.coreos.com":              true,
		"operatorsources.operators.coreos.com":           true, // of the time before: no operator brings it
		"clusterextensions.olm.operatorframework.io":     true,
		"clusterobjectsets.olm.operatorframework.io":     true,
		"packagemanifests.packages.operators.coreos.com": true,
		"things": false,
		"":       false,
		"volumesnapshots.snapshot.storage.k8s.io": false,
		"gateways.gateway.networking.k8s.io":      false,
	} {
		if err := CheckCRDName(name); errors.Is(err, ErrForbiddenCRD) != forbidden || err != nil != forbidden {
			t.Errorf("%q: error %v, want forbidden %v", name, err, forbidden)
		} else if forbidden {
			wantError(t, err, "CustomResourceDefinition "+name, "take it out of the bundle")
		}
	}
}

// TestCheckOwned: what is owned is refused like what is brought, for CRDs and aggregated APIs.
func TestCheckOwned(t *testing.T) {
	for name, test := range map[string]struct {
		crd, group string
		want       error
	}{
		"own group":                         {crd: "things.example.com"},
		"lifecycle":                         {crd: "operatorgroups.operators.coreos.com", want: ErrForbiddenCRD},
		"lifecycle, v1":                     {crd: "clusterextensions.olm.operatorframework.io", want: ErrForbiddenCRD},
		"roles of the cluster":              {crd: "clusterroles.rbac.authorization.k8s.io", want: ErrBuiltInGroup},
		"built in":                          {crd: "deployments.apps", want: ErrBuiltInGroup},
		"aggregated API":                    {group: "metrics.k8s.io"},
		"aggregated API, lifecycle":         {group: "packages.operators.coreos.com", want: ErrForbiddenCRD},
		"aggregated API, built in":          {group: "apiregistration.k8s.io", want: ErrBuiltInGroup},
		"aggregated API, of the core group": {group: "", want: ErrBuiltInGroup},
	} {
		csv := &v1alpha1.ClusterServiceVersion{}
		if test.crd != "" {
			csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: "good.example.com"}, {Name: test.crd}}
		} else {
			csv.Spec.APIServiceDefinitions.Owned = []v1alpha1.APIServiceDescription{{Name: "things", Group: test.group, Version: "v9"}}
		}
		if err := CheckOwned(csv); !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}

// TestBuiltInGroups: all groups that clients of Kubernetes know are in the list.
func TestBuiltInGroups(t *testing.T) {
	groups := map[string]bool{"apiextensions.k8s.io": true, "apiregistration.k8s.io": true}
	for _, gv := range scheme.Scheme.PrioritizedVersionsAllGroups() {
		groups[gv.Group] = true
	}
	for group := range groups {
		if !slices.Contains(builtInGroups, group) && group != "__internal" {
			t.Errorf("the API server serves %q, and an operator may own APIs of it", group)
		}
	}
}
