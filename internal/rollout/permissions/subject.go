package permissions

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

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
