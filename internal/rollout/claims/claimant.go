package claims

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

// Claimant is an InstallPlan that wants objects which another owner may have already.
type Claimant struct {
	Live      client.Reader // uncached
	Namespace string
	Operators Operators
	Wants     map[string]Operator // what the plan installs, by name
	Family    map[string]bool     // names of what the plan installs, of all that this replaces, and of what replaces it
}

// New is the claimant that knows the operators that there are, and those that a plan installs.
func New(live client.Reader, namespace string, all Operators, wants map[string]Operator) Claimant {
	family := map[string]bool{}
	for _, o := range wants {
		maps.Copy(family, all.line(o))
	}
	return Claimant{Live: live, Namespace: namespace, Operators: all, Wants: wants, Family: family}
}

// Judge judges the claim of a plan on a live object. An object of a plan may have several owners. What is taken although an operator of another
// namespace has it is described: an operator that is installed in several namespaces shares what its bundle has for the cluster.
func (c *Claimant) Judge(ctx context.Context, resolving string, live metav1.Object) (refused, taken string) {
	rules := rollout.ClaimRules{Shared: true, Unowned: rollout.Unmarked, Relate: func(h rollout.Holder) (rollout.Relation, string) {
		switch {
		case !h.IsOperator():
			return rollout.Foreign, rollout.ControlledBy(h)
		case c.Family[h.Name] && (!h.Labelled || h.Namespace == c.Namespace):
			return rollout.Own, ""
		}
		other, exists, err := c.find(ctx, h.Namespace, h.Name)
		incoming, known := c.Wants[resolving]
		switch isShared := known && (h.Name == incoming.Name || other.Package != "" && other.Package == incoming.Package); {
		case !exists:
			return rollout.Absent, ""
		case err != nil:
			return rollout.Foreign, fmt.Sprintf("belongs to %s %s/%s, unless that is gone, which cannot be found out: %v", v1alpha1.ClusterServiceVersionKind, h.Namespace, h.Name, err)
		case !h.Labelled || h.Namespace == c.Namespace || !isShared:
			return rollout.Foreign, fmt.Sprintf("belongs to %s %s/%s", v1alpha1.ClusterServiceVersionKind, h.Namespace, h.Name)
		}
		taken = fmt.Sprintf("it belonged to %s %s/%s, which is of the same package: it goes with %s/%s from now on, and each of the two changes it for both",
			v1alpha1.ClusterServiceVersionKind, h.Namespace, h.Name, c.Namespace, resolving)
		return rollout.Own, ""
	}}
	return rules.Judge(live, rollout.Holders(live)).Reason, taken
}

// find finds an operator, in namespaces too that the manager does not watch. One that cannot be looked for, for which there is the error,
// is taken to exist.
func (c *Claimant) find(ctx context.Context, namespace, name string) (found Operator, exists bool, err error) {
	if there, known := c.Operators.find(namespace, name); known {
		return there, true, nil
	}
	if namespace == "" || name == "" || strings.Contains(name, "/") {
		return Operator{}, false, nil
	}
	csv := &v1alpha1.ClusterServiceVersion{}
	err = c.Live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, csv)
	switch {
	case apierrors.IsNotFound(err) || err == nil && csv.IsCopied():
		return Operator{}, false, nil
	case err != nil:
		return Operator{Namespace: namespace, Name: name}, true, err
	}
	return Of(csv), true, nil
}
