package installplan

import (
	"errors"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestNoDefinitionsForAnOperatorThatMayNotCome: the CRDs of a plan are the whole cluster's. They stay as they are, or away, while the account
// of the plan may not create its ClusterServiceVersion, and the plan goes on once it may.
func TestNoDefinitionsForAnOperatorThatMayNotCome(t *testing.T) {
	for name, there := range map[string][]client.Object{
		"a CRD that is replaced": {liveCRD(t, "v1 served", "v1")},
		"a CRD that is new":      nil,
		"a ClusterServiceVersion whose place is held by a copy":   {liveCRD(t, "v1 served", "v1"), copied("ns", "op.v1")},
		"a CRD whose version goes, so that objects are rewritten": {liveCRD(t, "v0, v1 served", "v0", "v1")},
	} {
		t.Run(name, func(t *testing.T) {
			allowed := false
			w := limitedWorld(t, func(what string) error {
				if allowed || what != "create op.v1" {
					return nil
				}
				return apierrors.NewForbidden(schema.GroupResource{Group: v1alpha1.GroupName, Resource: "clusterserviceversions"}, "op.v1", errors.New("not yours"))
			}, append(deepCopies(there), newPlan(step(t, csvYAML), step(t, sized())))...)
			p := w.settle(t, 30*time.Minute)
			const words = "retrying execution due to error: create ClusterServiceVersion ns/op.v1: clusterserviceversions.operators.coreos.com \"op.v1\" is forbidden: not yours"
			must.Equal(t, p.Status.Message, p.Status.Phase, v1alpha1.InstallPlanPhaseInstalling)
			must.Equal(t, "message", p.Status.Message, words)
			for _, write := range w.Taken() {
				must.Equal(t, "write", write, reported)
			}
			allowed = true
			w.controller.memory.update(client.ObjectKeyFromObject(p), func(p *remembered) { p.due = time.Time{} })
			if p := w.settle(t, time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseComplete {
				t.Errorf("when it may: %s: %s", p.Status.Phase, p.Status.Message)
			}
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if !w.get(t, crd, "", "widgets.example.com") || len(crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties) == 0 {
				t.Errorf("the CRD is not as the plan has it: %+v", crd.Spec)
			}
		})
	}
}

// TestAccountsAreAskedOnlyWhatMatters: nobody is asked where no CRD comes first or the ClusterServiceVersion is there, and another answer than
// that it is forbidden, as of a webhook that takes no dry runs, is not the last word.
func TestAccountsAreAskedOnlyWhatMatters(t *testing.T) {
	manual := newPlan(step(t, csvYAML), step(t, crdYAML))
	for name, tc := range map[string]struct {
		objects []client.Object
		tries   int
	}{
		"a plan with a CRD":                     {[]client.Object{manual}, 1},
		"one without":                           {[]client.Object{newPlan(step(t, csvYAML), step(t, serviceYAML))}, 0},
		"one whose ClusterServiceVersion is in": {[]client.Object{manual, csv("ns", "op.v1", "", "widgets.example.com")}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := limitedWorld(t, func(string) error { return nil }, deepCopies(tc.objects)...)
			w.Fault(func(what string, _ bool) error {
				if what == "try ClusterServiceVersion op.v1" {
					return apierrors.NewBadRequest("admission webhook does not support dry run")
				}
				return nil
			})
			hasPhase(t, w.settle(t, time.Minute), v1alpha1.InstallPlanPhaseComplete)
			must.Equal(t, "tries", w.Count("try "), tc.tries)
		})
	}
}

// copied is the copy of a ClusterServiceVersion of another namespace.
func copied(namespace, name string) *v1alpha1.ClusterServiceVersion {
	out := csv(namespace, name, "")
	out.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{v1alpha1.CopiedFromLabel: "elsewhere"}}
	return out
}
