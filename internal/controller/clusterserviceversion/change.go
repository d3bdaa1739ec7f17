package clusterserviceversion

import (
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"
)

// change is an object to be applied or to be removed.
type change struct {
	apply, remove client.Object
	// byManager is whether the manager makes it with its own rights even where installs are limited to those of a service
	// account: it takes permissions in target namespaces away.
	byManager bool
	// unseen is whether the object may belong to another owner for all that the cache shows: it is not there, or not with the labels of the CSV.
	unseen bool
	// absent is whether there is none, as far as a cache of all objects of the kind shows.
	absent bool
}

func (c change) String() string {
	if c.apply == nil {
		return describeObject(c.remove) + " is not desired any more"
	}
	return describeObject(c.apply) + " is not as the install strategy asks for"
}

// object is a change as the engine makes it. Kind reports the one of an object that was read.
func (c change) object(chain *chain, kind func(runtime.Object) (schema.GroupVersionKind, error)) (rollout.Object, error) {
	if c.apply == nil {
		gvk, err := kind(c.remove)
		if err != nil {
			return rollout.Object{}, fmt.Errorf("delete %s: %w", describeObject(c.remove), err)
		}
		gone := &unstructured.Unstructured{}
		gone.SetGroupVersionKind(gvk)
		gone.SetNamespace(c.remove.GetNamespace())
		gone.SetName(c.remove.GetName())
		gone.SetUID(c.remove.GetUID())
		return rollout.Object{Wanted: gone, Policy: rollout.Remove}, nil
	}
	desired, err := rollout.Render(c.apply)
	return rollout.Object{
		Wanted: desired,
		Absent: c.absent,
		// The role of a binding cannot be changed in place.
		Displaces: func(live *unstructured.Unstructured) bool {
			return !equality.Semantic.DeepEqual(live.Object["roleRef"], desired.Object["roleRef"])
		},
		Adjust: func(desired, live *unstructured.Unstructured) error {
			if live == nil {
				return nil
			}
			return chain.mayWrite(c.apply, desired, live)
		},
	}, err
}

// mayWrite refuses to write an object that is controlled by another owner, a Deployment or a Service that another client has, and another selector of a
// Deployment. The cluster is asked for that: caches hold only what carries the label of what is managed.
func (c *chain) mayWrite(object client.Object, desired, live *unstructured.Unstructured) error {
	unowned := func(metav1.Object) string { return "" }
	switch object.(type) {
	case *apiregistrationv1.APIService:
		// One that is adopted may have said that certificates are not verified, and the cluster refuses that together with a CA bundle.
		if skips, _, _ := unstructured.NestedBool(live.Object, "spec", "insecureSkipTLSVerify"); skips {
			return unstructured.SetNestedField(desired.Object, false, "spec", "insecureSkipTLSVerify")
		}
		return nil
	case *corev1.Secret:
		return nil // it was judged when it was read
	case *appsv1.Deployment, *corev1.Service:
		unowned = rollout.Unmarked
	default:
		if !isAdopted(live) {
			return nil
		}
	}
	ours := ownedBy(live, c.csv) && live.GetLabels()[v1alpha1.ManagedLabel] == v1alpha1.ManagedLabelValue && metav1.GetControllerOfNoCopy(live) == nil
	if claim := c.claim(live, unowned); !ours && claim.Verdict == rollout.Refused {
		return refused(fmt.Errorf("%s %s", describeObject(object), claim.Reason))
	}
	deployment, ok := object.(*appsv1.Deployment)
	if !ok {
		return nil
	}
	was := &appsv1.Deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, was); err != nil {
		return fmt.Errorf("read %s: %w", describeObject(object), err)
	}
	// A Deployment is not deleted to change its selector: all pods would go before a new one is known to run.
	is, should := was.Spec.Selector, deployment.Spec.Selector
	if is == nil || should == nil || equality.Semantic.DeepEqual(is, should) {
		return nil
	}
	return refused(fmt.Errorf("%s exists with the selector %s, which cannot be changed to %s: delete the Deployment, and it is recreated (none of its pods runs in between), "+
		"or have the author of the operator name it otherwise", describeObject(object), metav1.FormatLabelSelector(is), metav1.FormatLabelSelector(should)))
}

// claim judges the claim of the CSV on an object of its namespace. One that names owners belongs to none that are gone, or that the CSV replaces or is
// replaced by.
func (c *chain) claim(live metav1.Object, unowned func(metav1.Object) string) rollout.Ownership {
	rules := rollout.ClaimRules{Unowned: unowned, Relate: func(h rollout.Holder) (rollout.Relation, string) {
		switch {
		case !h.IsOperator():
			return rollout.Foreign, rollout.ControlledBy(h) + ": delete or rename one of the two"
		case c.yields(h.Name):
			return rollout.Own, ""
		}
		return rollout.Foreign, fmt.Sprintf("belongs to %s %s/%s: delete one of the two, or let one replace the other", v1alpha1.ClusterServiceVersionKind, c.csv.Namespace, h.Name)
	}}
	return rules.Judge(live, slices.DeleteFunc(rollout.Holders(live), func(h rollout.Holder) bool {
		return h.Labelled && (h.Namespace != c.csv.Namespace || h.Name == "")
	}))
}

// refusal is a failure that a retry does not resolve: something has to be changed first. Unlike what reconcile.Terminal marks it is retried with
// back-off where it keeps a step from being done, because not every change that resolves it is watched.
type refusal struct{ cause error }

func (r refusal) Error() string { return r.cause.Error() }

// Is lets the cause be found, but not be judged apart from the refusal.
func (r refusal) Is(target error) bool { return errors.Is(r.cause, target) }

func refused(err error) error { return refusal{err} }

// isOurRefusal reports whether the failure came from what is asked for itself, not from the cluster.
func isOurRefusal(err error) bool {
	var r refusal
	return errors.As(err, &r)
}

// isRefusal reports whether a retry is useless as long as nothing else changes. Of several failures all have to be such.
func isRefusal(err error) bool {
	return reconcile.All(err, func(err error) bool { return isOurRefusal(err) || reconcile.IsTerminal(err) })
}
