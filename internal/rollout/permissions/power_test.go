package permissions

import (
	"testing"

	"fairlead.dev/fairlead/test/must"

	rbacv1 "k8s.io/api/rbac/v1"
)

// TestPower: what reaches beyond an operator's own custom resources is named, and nothing else.
func TestPower(t *testing.T) {
	for name, test := range map[string]struct {
		namespace                string
		groups, resources, verbs []string
		names                    []string
		want                     string
	}{
		"its own custom resources":         {"", []string{"example.com"}, []string{"*"}, []string{"*"}, nil, ""},
		"everything":                       {"", []string{"*"}, []string{"*"}, []string{"*"}, nil, "all rights to all objects of the cluster"},
		"everything in a namespace":        {"ops", []string{"*"}, []string{"*"}, []string{"*"}, nil, "all rights to all objects of namespace ops"},
		"all of its group":                 {"", []string{"example.com"}, []string{"*"}, []string{"*"}, nil, ""},
		"secrets":                          {"ops", []string{""}, []string{"configmaps", "secrets"}, []string{"get"}, nil, "reads or writes Secrets"},
		"all that can be read":             {"", []string{"*"}, []string{"*"}, []string{"get", "list"}, nil, "can run commands on nodes"},
		"one secret":                       {"", []string{""}, []string{"secrets"}, []string{"get"}, []string{"mine"}, ""},
		"configmaps":                       {"", []string{""}, []string{"configmaps"}, []string{"*"}, nil, ""},
		"escalate":                         {"", []string{"rbac.authorization.k8s.io"}, []string{"clusterroles"}, []string{"escalate"}, nil, "can give itself any right"},
		"impersonate":                      {"", []string{""}, []string{"users"}, []string{"impersonate"}, nil, "can act as others"},
		"commands":                         {"ops", []string{""}, []string{"pods/exec"}, []string{"create"}, nil, "can run commands in pods"},
		"commands, of all kinds":           {"ops", []string{""}, []string{"*/exec"}, []string{"create"}, nil, "can run commands in pods"},
		"admission":                        {"", []string{"admissionregistration.k8s.io"}, []string{"mutatingwebhookconfigurations"}, []string{"patch"}, nil, "decides what others may write to the cluster"},
		"reading admission":                {"", []string{"admissionregistration.k8s.io"}, []string{"mutatingwebhookconfigurations"}, []string{"get"}, nil, ""},
		"workloads":                        {"", []string{"apps"}, []string{"deployments"}, []string{"create"}, nil, "runs workloads in all namespaces"},
		"workloads in a namespace":         {"ops", []string{"apps"}, []string{"deployments"}, []string{"create"}, nil, ""},
		"roles":                            {"", []string{"rbac.authorization.k8s.io"}, []string{"rolebindings"}, []string{"create"}, nil, "writes roles and bindings"},
		"a kind of that name of its group": {"", []string{"example.com"}, []string{"secrets"}, []string{"get"}, nil, ""},
	} {
		rule := MissingRule{test.namespace, rbacv1.PolicyRule{APIGroups: test.groups, Resources: test.resources, Verbs: test.verbs, ResourceNames: test.names}}
		must.Equal(t, name, rule.Power(), test.want)
	}
}
