package installplan

import (
	"context"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/apply"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// adjustCRD refuses a CRD that would lose data or break others, and records whom it was installed with.
func (x *execution) adjustCRD(ctx context.Context, s *stepRun) apply.Adjust {
	return func(wanted, live *unstructured.Unstructured) error {
		if x.convertsCRD(s.step.Resolving, wanted.GetName()) {
			// The controller that runs the operator switches conversion on when the webhook answers, and is its only writer.
			unstructured.RemoveNestedField(wanted.Object, "spec", "conversion")
		}
		annotations := withEntry(wanted.GetAnnotations(), bundle.InstalledAlongsideKey(x.plan.Namespace, s.step.Resolving),
			x.plan.Namespace+"/"+s.step.Resolving)
		wanted.SetAnnotations(annotations)
		if live == nil {
			return nil
		}
		if err := x.checkCRD(s.step.Resolving, wanted, live); err != nil {
			return err // it was looked at before, but may have changed since
		}
		for key, value := range live.GetAnnotations() {
			if strings.HasPrefix(key, v1alpha1.InstalledAlongsideAnnotationPrefix) && annotations[key] == "" && x.isOperator(ctx, value) {
				annotations[key] = value
			}
		}
		wanted.SetAnnotations(annotations)
		return nil
	}
}

// convertsCRD tells whether an operator of the plan serves the conversion webhook of a CRD.
func (x *execution) convertsCRD(csv, crd string) bool {
	incoming, ok := x.incoming[csv]
	if !ok {
		return false
	}
	return slices.ContainsFunc(incoming.Spec.WebhookDefinitions, func(w v1alpha1.WebhookDescription) bool {
		return w.Type == v1alpha1.ConversionWebhook && slices.Contains(w.ConversionCRDs, crd)
	})
}

// isOperator tells whether a text namespace/name is that of a ClusterServiceVersion that exists and is no copy. If that cannot be
// found out, as in a namespace that the manager may not see, it is taken to exist.
func (x *execution) isOperator(ctx context.Context, text string) bool {
	namespace, name, _ := strings.Cut(text, "/")
	csv := &metav1.PartialObjectMetadata{}
	csv.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.ClusterServiceVersionKind))
	if err := x.live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, csv); err != nil {
		return !apierrors.IsNotFound(err)
	}
	return !v1alpha1.IsCopied(csv)
}
