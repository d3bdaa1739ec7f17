package installplan

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/crds"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const ownCRD = "installplans.operators.coreos.com"

// ownDefinition is the CRD of InstallPlans, as a cluster has it.
func ownDefinition(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	all := must.Value(crds.All())(t)
	own := all[slices.IndexFunc(all, func(c *apiextensionsv1.CustomResourceDefinition) bool { return c.Name == ownCRD })].DeepCopy()
	own.Status.StoredVersions = []string{"v1alpha1"}
	own.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
		{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue}, {Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue},
	}
	return own
}

// emptied is that CRD without spec and status: the next write of each plan of the cluster would lose them.
func emptied(t *testing.T) string {
	t.Helper()
	crd := ownDefinition(t)
	crd.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	for i := range crd.Spec.Versions {
		crd.Spec.Versions[i].Schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{Type: "object"}
	}
	text := must.Value(json.Marshal(crd))(t)
	return string(text)
}

// TestDefinitionsOfTheManager are no bundle's to bring: CRDs are written with the manager's own permissions, so whoever may install
// anything, if only as an account that may do nothing, could change what all plans consist of.
func TestDefinitionsOfTheManager(t *testing.T) {
	const words = "CustomResourceDefinition " + ownCRD + ": this API group is of operator lifecycle management itself, whose definitions come with its manager alone"
	nothing := func(what string) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "anything"}, what, errors.New("the account may do nothing"))
	}
	anything := func(string) error { return nil }
	tests := map[string]struct {
		world    func(*testing.T, ...client.Object) *world
		there    []client.Object
		optional bool
	}{
		"of a namespace whose account may do nothing": {world: func(t *testing.T, o ...client.Object) *world { return limitedWorld(t, nothing, o...) }, there: []client.Object{ownDefinition(t)}},
		"of one whose account may do all":             {world: func(t *testing.T, o ...client.Object) *world { return limitedWorld(t, anything, o...) }, there: []client.Object{ownDefinition(t)}},
		"of one without account":                      {world: func(t *testing.T, o ...client.Object) *world { return newWorld(t, o...) }, there: []client.Object{ownDefinition(t)}},
		"in a step that may fail":                     {world: func(t *testing.T, o ...client.Object) *world { return newWorld(t, o...) }, there: []client.Object{ownDefinition(t)}, optional: true},
		"that are not there":                          {world: func(t *testing.T, o ...client.Object) *world { return newWorld(t, o...) }},
		"that are not there, in a step that may fail": {world: func(t *testing.T, o ...client.Object) *world { return newWorld(t, o...) }, optional: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			crd := step(t, emptied(t))
			crd.Optional = tc.optional
			w := tc.world(t, append(deepCopies(tc.there), newPlan(step(t, csvYAML), crd))...)
			p := w.settle(t, 2*time.Minute)
			if tc.optional != (p.Status.Phase == v1alpha1.InstallPlanPhaseComplete) || !tc.optional && (p.Status.Phase != v1alpha1.InstallPlanPhaseFailed || !strings.HasPrefix(p.Status.Message, words)) {
				t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
			}
			now := &apiextensionsv1.CustomResourceDefinition{}
			if there := w.get(t, now, "", ownCRD); there != (len(tc.there) > 0) || there && len(now.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties) == 0 {
				t.Errorf("it is there: %v, and was replaced", there)
			}
			must.Equal(t, "the ClusterServiceVersion was made", w.get(t, &v1alpha1.ClusterServiceVersion{}, "ns", "op.v1"), tc.optional)
		})
	}
}

// TestDefinitionsOfTheManagerAreToldOfBeforeApproval: a plan with one is not worth approving.
func TestDefinitionsOfTheManagerAreToldOfBeforeApproval(t *testing.T) {
	plan := newPlan(step(t, csvYAML), step(t, emptied(t)))
	plan.Spec.Approval, plan.Spec.Approved = v1alpha1.ApprovalManual, false
	w := newWorld(t, ownDefinition(t), plan)
	if p := w.settle(t, time.Minute); !strings.HasPrefix(p.Status.Message, v1alpha1.NotWorthApproving+"CustomResourceDefinition "+ownCRD) {
		t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
	}
}
