package installplan

import (
	"fmt"
	"strings"
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestLimitedManagersJudgeGroupsOfOtherNamespaces has a group of a namespace that the manager does not work on provide the same API in the
// namespace that it does work on. Both sides are named rather than something waited for, nothing of the other namespace is touched, and the
// operator runs as soon as the other group is gone.
func TestLimitedManagersJudgeGroupsOfOtherNamespaces(t *testing.T) {
	o := newOutage(t)
	elsewhere := devcluster.Namespace(t)
	api := "Goose.v1." + o.namespace + ".example.com"
	crd := object(t, &apiextensionsv1.CustomResourceDefinition{}, strings.ReplaceAll(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: geese.GROUP},
  spec: {group: GROUP, scope: Namespaced, names: {plural: geese, singular: goose, kind: Goose, listKind: GooseList},
    versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`, "GROUP", o.namespace+".example.com"))
	must.NoError(t, o.Create(t.Context(), crd))
	t.Cleanup(func() { _ = o.Delete(t.Context(), crd) })

	other := &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: elsewhere, Name: "other", Annotations: map[string]string{"olm.providedAPIs": api}},
		Spec: operatorsv1.OperatorGroupSpec{TargetNamespaces: []string{o.namespace}}}
	must.NoError(t, o.Create(t.Context(), other))
	since := metav1.Now()
	other.Status = operatorsv1.OperatorGroupStatus{Namespaces: []string{o.namespace}, LastUpdated: &since}
	must.NoError(t, o.Status().Update(t.Context(), other))

	csv := object(t, &v1alpha1.ClusterServiceVersion{}, operatorText("op.v1", ""))
	csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: crd.Name, Version: "v1", Kind: "Goose"}}
	o.make("test", o.own("mine"), csv)
	harness.Await(o, o, client.ObjectKeyFromObject(csv), csv, "both sides of the conflict to be named", func() error {
		for _, words := range []string{api, elsewhere + "/other", o.namespace + "/mine"} {
			if csv.Status.Reason != v1alpha1.CSVReasonInterOperatorGroupOwnerConflict || !strings.Contains(csv.Status.Message, words) {
				return fmt.Errorf("it is %s, %s: %s", csv.Status.Phase, csv.Status.Reason, csv.Status.Message)
			}
		}
		return nil
	})
	var roles rbacv1.ClusterRoleList
	if err := o.List(t.Context(), &roles, client.MatchingLabels{"olm.owner.namespace": elsewhere}); err != nil || len(roles.Items) > 0 {
		t.Errorf("the group of the other namespace has ClusterRoles %v, %v", roles.Items, err)
	}
	must.NoError(t, o.Delete(t.Context(), other))
	harness.Await(o, o, client.ObjectKeyFromObject(csv), csv, "the operator to run", func() error {
		if csv.Status.Phase != v1alpha1.CSVPhaseSucceeded {
			return fmt.Errorf("it is %s: %s", csv.Status.Phase, csv.Status.Message)
		}
		return nil
	})
}

// own is an OperatorGroup that targets the namespace itself, and so never competes with those of other tests.
func (o *outage) own(name string) *operatorsv1.OperatorGroup {
	return &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: name}, Spec: operatorsv1.OperatorGroupSpec{TargetNamespaces: []string{o.namespace}}}
}
