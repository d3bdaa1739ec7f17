package migrate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestRights(t *testing.T) {
	role := Ref{"rbac.authorization.k8s.io/v1", "Role", "ns", "r"}.Object()
	role.Object["rules"] = []any{
		map[string]any{"verbs": []any{"get", "list"}, "apiGroups": []any{"", "apps"}, "resources": []any{"pods"}, "resourceNames": []any{"p"}},
		map[string]any{"verbs": []any{"get"}, "nonResourceURLs": []any{"/metrics"}},
	}
	all := Ref{"rbac.authorization.k8s.io/v1", "ClusterRole", "", "all"}.Object()
	all.Object["aggregationRule"] = map[string]any{"clusterRoleSelectors": []any{map[string]any{"matchLabels": map[string]any{"a": "b"}}}}
	binding := Ref{"rbac.authorization.k8s.io/v1", "RoleBinding", "ns", "b"}.Object()
	binding.Object["roleRef"] = map[string]any{"kind": "ClusterRole", "name": "admin"}
	binding.Object["subjects"] = []any{map[string]any{"kind": "ServiceAccount", "namespace": "ns", "name": "s"}, map[string]any{"kind": "Group", "name": "g"}}
	operator := Ref{"operators.coreos.com/v1", "Operator", "", "o"}.Object()
	got, err := (&Backup{Removed: []*unstructured.Unstructured{role, all, binding, operator}}).Rights()
	want := []string{"Role ns/r: get,list pods of core,apps named p; get /metrics", "ClusterRole all: the rules of other ClusterRoles, by label", "RoleBinding ns/b: ClusterRole admin for ServiceAccount ns/s, Group g"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	role.Object["rules"] = "x"
	if _, err := (&Backup{Removed: []*unstructured.Unstructured{role}}).Rights(); err == nil {
		t.Error("rules that are none are told")
	}
}
