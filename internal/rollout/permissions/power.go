package permissions

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// power is a right that reaches beyond what an operator does for its own custom resources.
type power struct {
	groups, resources, verbs []string
	text                     string
	// cluster: in one namespace it is nothing special.
	cluster bool
}

var (
	writing = []string{"create", "update", "patch", "delete", "deletecollection"}
	reading = []string{"get", "list", "watch"}
)

// powers are in the order in which they are reported: the first that a rule has counts.
var powers = []power{
	{[]string{rbacv1.GroupName}, []string{"roles", "clusterroles"}, []string{"escalate", "bind"}, "can give itself any right", false},
	{[]string{""}, []string{"users", "groups", "serviceaccounts"}, []string{"impersonate"}, "can act as others", false},
	{[]string{""}, []string{"serviceaccounts/token"}, []string{"create"}, "can get tokens of service accounts", false},
	{[]string{""}, []string{"nodes/proxy"}, append(writing, "get"), "can run commands on nodes", false},
	{[]string{""}, []string{"pods/exec", "pods/attach"}, []string{"create", "get"}, "can run commands in pods", false},
	{[]string{""}, []string{"secrets"}, append(reading, writing...), "reads or writes Secrets", false},
	{[]string{"admissionregistration.k8s.io"}, []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations", "validatingadmissionpolicies", "mutatingadmissionpolicies"},
		writing, "decides what others may write to the cluster", false},
	{[]string{"certificates.k8s.io"}, []string{"certificatesigningrequests/approval", "signers"}, append(writing, "approve", "sign"), "can issue certificates of the cluster", false},
	{[]string{rbacv1.GroupName}, []string{"roles", "clusterroles", "rolebindings", "clusterrolebindings"}, writing, "writes roles and bindings", true},
	{[]string{"", "apps", "batch"}, []string{"pods", "deployments", "daemonsets", "statefulsets", "replicasets", "replicationcontrollers", "jobs", "cronjobs"},
		writing, "runs workloads in all namespaces", true},
}

// Power says what of a rule reaches beyond what an operator does for its own custom resources; it is empty where nothing does. A rule for objects with
// names is as narrow as these.
func (r MissingRule) Power() string {
	has := func(list []string, one string) bool { return slices.Contains(list, one) || slices.Contains(list, "*") }
	where := " of the cluster"
	if r.Namespace != "" {
		where = " of namespace " + r.Namespace
	}
	if slices.Contains(r.Verbs, "*") && slices.Contains(r.Resources, "*") && has(r.APIGroups, "") {
		return "all rights to all objects" + where
	}
	if len(r.ResourceNames) > 0 {
		return ""
	}
	for _, p := range powers {
		if p.cluster && r.Namespace != "" {
			continue
		}
		group := slices.ContainsFunc(p.groups, func(g string) bool { return has(r.APIGroups, g) })
		resource := slices.ContainsFunc(p.resources, func(name string) bool {
			_, sub, _ := strings.Cut(name, "/")
			return has(r.Resources, name) || sub != "" && slices.Contains(r.Resources, "*/"+sub)
		})
		if group && resource && slices.ContainsFunc(p.verbs, func(verb string) bool { return has(r.Verbs, verb) }) {
			return p.text
		}
	}
	return ""
}
