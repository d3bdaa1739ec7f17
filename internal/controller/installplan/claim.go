package installplan

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// claimant is a plan that wants objects which may be somebody's already.
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

// claim is the claim of a step on the object that is there.
func (x *execution) claim(ctx context.Context, s *stepRun) rollout.Claim {
	return func(live *unstructured.Unstructured) (refused string) {
		refused, s.taken = x.claimant.judge(ctx, s.step.Resolving, live)
		return refused
	}
}

// judge keeps a plan from taking over what belongs to somebody else: to a controller, to an operator that exists and is neither in the
// plan nor replaced by it, or to a user, who did not say that operators may have it. Of what is taken although an operator has it, it
// says whose it was.
func (c *claimant) judge(ctx context.Context, resolving string, live metav1.Object) (refused, taken string) {
	labels := live.GetLabels()
	isMarked := labels[v1alpha1.ManagedLabel] == v1alpha1.ManagedLabelValue
	for _, r := range live.GetOwnerReferences() {
		switch {
		case isOperator(r) && c.family[r.Name]:
			return "", ""
		case isOperator(r):
			isMarked, refused = true, cmp.Or(c.belongsTo(ctx, live.GetNamespace(), r.Name), refused)
		case isController(r):
			return controlledBy(r), ""
		}
	}
	if refused == "" && labels[v1alpha1.OwnerKindLabel] == v1alpha1.ClusterServiceVersionKind {
		isMarked = true
		refused, taken = c.labelled(ctx, resolving, labels[v1alpha1.OwnerNamespaceLabel], labels[v1alpha1.OwnerLabel])
	}
	if !isMarked {
		return fmt.Sprintf("exists, and nothing says that it belongs to an operator: delete or rename it, or let operators have it by giving it the label %s=%s",
			v1alpha1.ManagedLabel, v1alpha1.ManagedLabelValue), ""
	}
	return refused, taken
}

// labelled judges the owner that the labels of an object name. An operator that is installed in several namespaces shares what its
// bundle has for the cluster; that this is so is told.
func (c *claimant) labelled(ctx context.Context, resolving, namespace, name string) (refused, taken string) {
	if namespace == c.namespace && c.family[name] {
		return "", ""
	}
	other, exists, err := c.find(ctx, namespace, name)
	incoming, known := c.wants[resolving]
	isShared := known && (name == incoming.name || other.pkg != "" && other.pkg == incoming.pkg)
	switch {
	case !exists:
		return "", ""
	case err != nil || namespace == c.namespace || !isShared:
		return belonging(namespace, name, err), ""
	}
	return "", fmt.Sprintf("it belonged to %s %s/%s, which is of the same package: it goes with %s/%s from now on, and each of the two changes it for both",
		v1alpha1.ClusterServiceVersionKind, namespace, name, c.namespace, resolving)
}

func isController(r metav1.OwnerReference) bool { return r.Controller != nil && *r.Controller }

func controlledBy(r metav1.OwnerReference) string {
	return fmt.Sprintf("is controlled by %s %s", r.Kind, r.Name)
}

func isOperator(r metav1.OwnerReference) bool {
	gv, err := schema.ParseGroupVersion(r.APIVersion)
	return err == nil && gv.Group == v1alpha1.GroupName && r.Kind == v1alpha1.ClusterServiceVersionKind
}

// belongsTo says that an object belongs to an operator, if that exists.
func (c *claimant) belongsTo(ctx context.Context, namespace, name string) string {
	_, exists, err := c.find(ctx, namespace, name)
	if !exists {
		return ""
	}
	return belonging(namespace, name, err)
}

func belonging(namespace, name string, err error) string {
	text := fmt.Sprintf("belongs to %s %s/%s", v1alpha1.ClusterServiceVersionKind, namespace, name)
	if err != nil {
		text += fmt.Sprintf(", unless that is gone, which cannot be found out: %v", err)
	}
	return text
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
