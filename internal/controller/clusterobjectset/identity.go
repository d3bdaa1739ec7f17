package clusterobjectset

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/permissions"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// accountOf is the service account that a set acts as; empty for the manager.
func accountOf(set *olmv1.ClusterObjectSet) (namespace, name string, _ error) {
	value := set.Annotations[revision.ServiceAccountKey]
	if value == "" {
		return "", "", nil
	}
	namespace, name, ok := strings.Cut(value, "/")
	if !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
		return "", "", fmt.Errorf("annotation %s is %q, which is not NAMESPACE/NAME of a ServiceAccount", revision.ServiceAccountKey, value)
	}
	return namespace, name, nil
}

// readAsManager reports whether the Secrets that a set refers to may be read as the manager: it acts as the manager anyway, or is a revision of an
// extension, for which the manager wrote them. The policies in config say who may make such sets.
func readAsManager(set *olmv1.ClusterObjectSet) bool {
	_, uid := revision.ExtensionOf(set)
	return uid != "" || set.Annotations[revision.ServiceAccountKey] == ""
}

// identities are who acts for a set.
type identities struct{ *environment }

// unread says what the service account of a set lacks to read its Secrets.
func unread(set *olmv1.ClusterObjectSet, err error) error {
	namespace, name, accountErr := accountOf(set)
	if !apierrors.IsForbidden(err) || name == "" || accountErr != nil {
		return err
	}
	return fmt.Errorf(`%w; ServiceAccount %s/%s lacks the rule {apiGroups: [""], resources: [secrets], verbs: [get]} for the Secrets that the ClusterObjectSet refers to`, err, namespace, name)
}

// writer is the client that writes the objects of a set; nil is that of the manager.
func (i *identities) writer(ctx context.Context, set *olmv1.ClusterObjectSet) (client.Client, error) {
	namespace, name, err := accountOf(set)
	if err != nil || name == "" {
		return nil, err
	}
	return i.accounts.Client(ctx, namespace, name)
}

// explain is an error in words. Of what the service account may not do, it says which rule would allow it.
func (i *identities) explain(set *olmv1.ClusterObjectSet, err error) string {
	text := messages.Error(err)
	var failed *rollout.RequestError
	namespace, name, accountErr := accountOf(set)
	if name == "" || accountErr != nil || !apierrors.IsForbidden(err) || !errors.As(err, &failed) || failed.Verb == "read" || strings.Contains(text, "attempting to grant RBAC") {
		return text
	}
	group, resource := failed.Ref.Group, strings.ToLower(failed.Ref.Kind)
	if mapping, err := i.client.RESTMapper().RESTMapping(failed.Ref.GroupKind(), failed.Ref.Version); err == nil {
		resource = mapping.Resource.Resource
	}
	verb, names := failed.Verb, fmt.Sprintf(", resourceNames: [%s]", failed.Ref.Name)
	switch verb {
	case "create":
		names = "" // the name of what is created is not known to authorizers
	case "apply":
		verb = "patch"
	}
	where := "a ClusterRole"
	if failed.Ref.Namespace != "" {
		where = "a Role or ClusterRole bound in namespace " + failed.Ref.Namespace
	}
	rule := fmt.Sprintf(`{apiGroups: [%q], resources: [%s], verbs: [%s]%s} of %s`, group, resource, verb, names, where)
	return fmt.Sprintf("%s; ServiceAccount %s/%s lacks the rule %s", text, namespace, name, rule)
}

// vouched is why a set is not rolled out: the admission policies are not in force that decide who may make one which acts as its account, or as
// the manager. A set that has been rolled out is kept in order, as long as only the manager can have written that it has been.
func (i *identities) vouched(ctx context.Context, set *olmv1.ClusterObjectSet) error {
	namespace, name, err := accountOf(set)
	if err != nil {
		return err
	}
	account := ""
	if name != "" {
		account = namespace + "/" + name
	}
	err = i.policies.Require(ctx, account, true)
	var missing *permissions.MissingPolicyError
	if !errors.As(err, &missing) {
		return err
	}
	if meta.IsStatusConditionTrue(set.Status.Conditions, olmv1.TypeSucceeded) && !missing.Lacks(permissions.RevisionStatus) {
		return nil
	}
	return &revision.BlockedError{Message: err.Error()}
}
