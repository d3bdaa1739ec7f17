package installplan

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// claimant is a plan that wants objects which another owner may have already.
type claimant struct {
	live      client.Reader
	namespace string
	operators operators
	wants     map[string]operator // what the plan installs, by name
	family    map[string]bool     // names of what the plan installs, of all that this replaces, and of what replaces it
}

// newClaimant knows the operators that there are, and those that a plan installs.
func newClaimant(live client.Reader, namespace string, all operators, wants map[string]operator) claimant {
	family := map[string]bool{}
	for _, o := range wants {
		maps.Copy(family, all.line(o))
	}
	return claimant{live: live, namespace: namespace, operators: all, wants: wants, family: family}
}

// judge judges the claim of a plan on a live object. An object of a plan may have several owners. What is taken although an operator of another
// namespace has it is described: an operator that is installed in several namespaces shares what its bundle has for the cluster.
func (c *claimant) judge(ctx context.Context, resolving string, live metav1.Object) (refused, taken string) {
	rules := rollout.ClaimRules{Shared: true, Unowned: rollout.Unmarked, Relate: func(h rollout.Holder) (rollout.Relation, string) {
		switch {
		case !h.IsOperator():
			return rollout.Foreign, rollout.ControlledBy(h)
		case c.family[h.Name] && (!h.Labelled || h.Namespace == c.namespace):
			return rollout.Own, ""
		}
		other, exists, err := c.find(ctx, h.Namespace, h.Name)
		incoming, known := c.wants[resolving]
		switch isShared := known && (h.Name == incoming.name || other.pkg != "" && other.pkg == incoming.pkg); {
		case !exists:
			return rollout.Absent, ""
		case err != nil:
			return rollout.Foreign, fmt.Sprintf("belongs to %s %s/%s, unless that is gone, which cannot be found out: %v", v1alpha1.ClusterServiceVersionKind, h.Namespace, h.Name, err)
		case !h.Labelled || h.Namespace == c.namespace || !isShared:
			return rollout.Foreign, fmt.Sprintf("belongs to %s %s/%s", v1alpha1.ClusterServiceVersionKind, h.Namespace, h.Name)
		}
		taken = fmt.Sprintf("it belonged to %s %s/%s, which is of the same package: it goes with %s/%s from now on, and each of the two changes it for both",
			v1alpha1.ClusterServiceVersionKind, h.Namespace, h.Name, c.namespace, resolving)
		return rollout.Own, ""
	}}
	return rules.Judge(live, rollout.Holders(live)).Reason, taken
}

// find finds an operator, in namespaces too that the manager does not watch. One that cannot be looked for, for which there is the error,
// is taken to exist.
func (c *claimant) find(ctx context.Context, namespace, name string) (found operator, exists bool, err error) {
	if there, known := c.operators.find(namespace, name); known {
		return there, true, nil
	}
	if namespace == "" || name == "" || strings.Contains(name, "/") {
		return operator{}, false, nil
	}
	csv := &v1alpha1.ClusterServiceVersion{}
	err = c.live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, csv)
	switch {
	case apierrors.IsNotFound(err) || err == nil && csv.IsCopied():
		return operator{}, false, nil
	case err != nil:
		return operator{namespace: namespace, name: name}, true, err
	}
	return operatorOf(csv), true, nil
}
