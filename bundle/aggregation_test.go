package bundle

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestDropAggregation: labels by which rights are gathered go, those of Kubernetes and of the author stay.
func TestDropAggregation(t *testing.T) {
	object := func(kind string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": map[string]any{"name": "r",
			"labels": map[string]any{"olm.opgroup.permissions/aggregate-to-admin": "group", "olm.opgroup.permissions/aggregate-to-0123456789abcdef-edit": "true",
				"operators.fairlead.dev/aggregate-to-manager": "true", "rbac.authorization.k8s.io/aggregate-to-edit": "true", "mine": "stays"},
			"annotations": map[string]any{"operators.fairlead.dev/providers": "ns/op.v1=uid/plan", "mine": "stays"}}}}
	}
	role := object("ClusterRole")
	DropAggregation(role)
	if diff := cmp.Diff(map[string]string{"rbac.authorization.k8s.io/aggregate-to-edit": "true", "mine": "stays"}, role.GetLabels()); diff != "" {
		t.Errorf("labels: %s", diff)
	}
	if diff := cmp.Diff(map[string]string{"mine": "stays"}, role.GetAnnotations()); diff != "" {
		t.Errorf("annotations: %s", diff)
	}
	other, bare := object("ConfigMap"), &unstructured.Unstructured{Object: map[string]any{"kind": "ClusterRole"}}
	DropAggregation(other)
	DropAggregation(bare)
	if diff := cmp.Diff(object("ConfigMap"), other); diff != "" || len(bare.Object) != 1 {
		t.Errorf("other objects: %s%v", diff, bare.Object)
	}
	for name, stays := range map[string]bool{"fairlead-manager-custom-resources:things.example.com": false, "mine": true} {
		gathers := object("ClusterRole")
		gathers.SetName(name)
		gathers.Object["aggregationRule"] = map[string]any{"clusterRoleSelectors": []any{map[string]any{}}}
		DropAggregation(gathers)
		if _, ok := gathers.Object["aggregationRule"]; ok != stays {
			t.Errorf("ClusterRole %s has an aggregationRule: %t", name, ok)
		}
	}
}
