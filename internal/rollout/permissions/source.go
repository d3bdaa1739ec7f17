package permissions

import (
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// RuleSource is what has to be known of a cluster. RBAC is one, from lists of objects.
type RuleSource interface {
	// Rules are those that the bindings of a namespace give a subject; those of ClusterRoleBindings when namespace is "".
	Rules(subject Subject, namespace string) ([]rbacv1.PolicyRule, error)
	// ClusterRole is nil when there is none of the name. Its rules include those of the roles that it aggregates.
	ClusterRole(name string) (*rbacv1.ClusterRole, error)
	// ClusterRoles are those whose labels the selector selects.
	ClusterRoles(selector labels.Selector) ([]*rbacv1.ClusterRole, error)
	// Role is nil when there is none of the name in the namespace.
	Role(namespace, name string) (*rbacv1.Role, error)
	Resources
}

// Resources tells which resource the objects of a kind are, and whether they have namespaces. A meta.RESTMapper is one. For kinds that
// it does not know it returns an error that meta.IsNoMatchError knows.
type Resources interface {
	RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error)
}

// Need is a request that a person has to be able to make besides those for objects.
type Need struct {
	// Namespace is empty for what has no namespace, and for requests over all namespaces.
	Namespace string
	Group     string
	// Resource may have a subresource: deployments/scale.
	Resource string
	// Name is empty for requests that name no object.
	Name  string
	Verbs []string
}

// MissingRule is a rule that a subject lacks, in a namespace or, when that is empty, in the whole cluster.
type MissingRule struct {
	Namespace string
	rbacv1.PolicyRule
}

// IncompleteError says why there may be more missing rules than were found.
type IncompleteError struct{ Reasons []string }

// Namespaces are those whose Roles and RoleBindings matter for the objects and the further requests.
func Namespaces(objects []*unstructured.Unstructured, extra ...Need) []string {
	found := map[string]bool{}
	for _, object := range objects {
		found[object.GetNamespace()] = true
	}
	for _, need := range extra {
		found[need.Namespace] = true
	}
	delete(found, "")
	return slices.Sorted(maps.Keys(found))
}

// Subject is a person who sends requests to the API server.
type Subject struct {
	// User is the name that the API server knows it by.
	User string
	// Groups are those that it is a member of.
	Groups []string
}

const (
	accountPrefix = "system:serviceaccount:"
	// superusers may do everything, whatever roles say.
	superusers = "system:masters"
)

// ServiceAccount is the subject that a service account is, with its groups.
func ServiceAccount(namespace, name string) Subject {
	return Subject{
		User:   accountPrefix + namespace + ":" + name,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
	}
}

// account is the service account that a subject is.
func (s Subject) account() (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(s.User, accountPrefix)
	if !ok {
		return "", "", false
	}
	namespace, name, ok = strings.Cut(rest, ":")
	return namespace, name, ok && namespace != "" && name != ""
}

// is reports whether one of the subjects of a binding in a namespace, "" for a ClusterRoleBinding, is this one.
func (s Subject) is(subjects []rbacv1.Subject, namespace string) bool {
	for _, subject := range subjects {
		switch subject.Kind {
		case rbacv1.UserKind:
			if s.User == subject.Name {
				return true
			}
		case rbacv1.GroupKind:
			if slices.Contains(s.Groups, subject.Name) {
				return true
			}
		case rbacv1.ServiceAccountKind:
			in := subject.Namespace
			if in == "" {
				in = namespace
			}
			if in != "" && s.User == accountPrefix+in+":"+subject.Name {
				return true
			}
		}
	}
	return false
}
