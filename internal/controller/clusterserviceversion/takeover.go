package clusterserviceversion

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"
)

// mayWrite refuses to write an object that is controlled by another owner, a Deployment or a Service that another client has, and another selector of a
// Deployment. The cluster is asked for that: caches hold only what carries the label of what is managed.
func (f *facts) mayWrite(chain *chain, object client.Object, desired, live *unstructured.Unstructured) error {
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
		if controller := metav1.GetControllerOfNoCopy(live); controller == nil || controller.Kind == v1alpha1.ClusterServiceVersionKind {
			return nil
		}
	}
	own, ok := ownerOf(live)
	ours := ok && own == key(f.csv.Namespace, f.csv.Name) && live.GetLabels()[v1alpha1.ManagedLabel] == v1alpha1.ManagedLabelValue && metav1.GetControllerOfNoCopy(live) == nil
	if claim := f.claim(chain, live, unowned); !ours && claim.Verdict == rollout.Refused {
		return refused(fmt.Errorf("%s %s %s", kindOf(object), client.ObjectKeyFromObject(object), claim.Reason))
	}
	if deployment, ok := object.(*appsv1.Deployment); ok {
		was := &appsv1.Deployment{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, was); err != nil {
			return fmt.Errorf("read Deployment %s: %w", client.ObjectKeyFromObject(object), err)
		}
		return selectorStays(was, deployment)
	}
	return nil
}

// selectorStays refuses a Deployment that is there with another selector, which nobody can change. It is not deleted for that: with it all pods
// would go before a new one is known to run.
func selectorStays(live, wanted *appsv1.Deployment) error {
	is, should := live.Spec.Selector, wanted.Spec.Selector
	if is == nil || should == nil || equality.Semantic.DeepEqual(is, should) {
		return nil
	}
	return refused(fmt.Errorf("%s %s exists with the selector %s, which cannot be changed to %s: delete the Deployment, and it is recreated (none of its pods runs in between), "+
		"or have the author of the operator name it otherwise", kindOf(wanted), client.ObjectKeyFromObject(wanted), metav1.FormatLabelSelector(is), metav1.FormatLabelSelector(should)))
}

// issuerAnnotation is how cert-manager marks the Secrets that it writes, with the name of the Certificate.
const issuerAnnotation = "cert-manager.io/certificate-name"

// secretHeldBy says to whom the Secret of a serving certificate belongs, if that is somebody else: a private key that is overwritten cannot
// be made again. The hash of its authorities marks one that a manager of operators made, although a restored backup may have lost its owner.
func (f *facts) secretHeldBy(ctx context.Context, live *corev1.Secret) (string, error) {
	if live.ResourceVersion == "" {
		return "", nil
	}
	if name := live.Annotations[issuerAnnotation]; name != "" { // whoever else is named: it would be written again and again
		return fmt.Sprintf("is written by cert-manager for Certificate %s: delete that or give it another spec.secretName, then delete the Secret", name), nil
	}
	chain, err := f.chain(ctx)
	if err != nil {
		return "", err
	}
	unowned := rollout.Unmarked
	if _, isServing := live.Annotations[v1alpha1.CAHashAnnotation]; isServing {
		unowned = func(metav1.Object) string { return "" }
	}
	return f.claim(chain, live, unowned).Reason, nil
}

// claim judges the claim of the CSV on an object of its namespace. One that names owners belongs to none that are gone, or that the CSV replaces or is
// replaced by.
func (f *facts) claim(chain *chain, live metav1.Object, unowned func(metav1.Object) string) rollout.Ownership {
	rules := rollout.ClaimRules{Unowned: unowned, Relate: func(h rollout.Holder) (rollout.Relation, string) {
		switch {
		case !h.IsOperator():
			return rollout.Foreign, rollout.ControlledBy(h) + ": delete or rename one of the two"
		case f.yields(chain, h.Name):
			return rollout.Own, ""
		}
		return rollout.Foreign, fmt.Sprintf("belongs to %s %s/%s: delete one of the two, or let one replace the other", v1alpha1.ClusterServiceVersionKind, f.csv.Namespace, h.Name)
	}}
	return rules.Judge(live, slices.DeleteFunc(rollout.Holders(live), func(h rollout.Holder) bool {
		return h.Labelled && (h.Namespace != f.csv.Namespace || h.Name == "")
	}))
}

// yields reports whether the CSV of a name is this one, one that it replaces or is replaced by, or gone.
func (f *facts) yields(chain *chain, name string) bool {
	other := chain.byName[name]
	return name == f.csv.Name || other == nil || !other.DeletionTimestamp.IsZero() || chain.related(name, f.csv.Name)
}
