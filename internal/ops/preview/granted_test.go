package preview

import (
	"testing"

	"fairlead.dev/fairlead/internal/rollout/permissions"
	"fairlead.dev/fairlead/test/must"

	rbacv1 "k8s.io/api/rbac/v1"
)

// TestGranted: subject by subject, what reaches far first, in words; and that it is not known where it is not.
func TestGranted(t *testing.T) {
	rule := func(namespace string, groups, resources, verbs, names []string) permissions.MissingRule {
		return permissions.MissingRule{Namespace: namespace, PolicyRule: rbacv1.PolicyRule{APIGroups: groups, Resources: resources, Verbs: verbs, ResourceNames: names}}
	}
	urls := permissions.MissingRule{PolicyRule: rbacv1.PolicyRule{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}
	more := &permissions.Increase{Grants: []permissions.Grant{{Subject: "ServiceAccount ops/kite", Roles: []string{"ClusterRole admin"}, Accounts: []string{"ServiceAccount ops/other"}, Rules: []permissions.MissingRule{
		rule("ops", []string{"", "events.k8s.io"}, []string{"events"}, []string{"create", "patch"}, nil),
		rule("", []string{""}, []string{"secrets"}, []string{"get"}, nil),
		rule("ops", []string{""}, []string{"secrets"}, []string{"get"}, []string{"mine"}),
		urls,
	}}}}
	must.Equal(t, "granted", granted(more), []Granted{{"ServiceAccount ops/kite", []GrantedRule{
		{"get secrets in the whole cluster", "reads or writes Secrets"},
		{"all that is allowed by ClusterRole admin", "it is not part of the bundle"},
		{"all that the ServiceAccount ops/other may do", "it is not part of the bundle"},
		{"create, patch events of events.k8s.io and the core group in namespace ops", ""},
		{"get secrets named mine in namespace ops", ""},
		{"get the paths /metrics", ""},
	}}})
	must.Equal(t, "nothing", len(granted(&permissions.Increase{})), 0)
	must.Equal(t, "not known", granted(&permissions.Increase{Unjudged: "too many rules"}), []Granted{{"", []GrantedRule{{"what is added is not known", "too many rules"}}}})
}
