package installplan

import (
	"context"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/apply"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// adjustCRD refuses a CRD that would lose data or break others, and records whom it was installed with.
func (x *execution) adjustCRD(ctx context.Context, s *stepRun) apply.Adjust {
	return func(wanted, live *unstructured.Unstructured) error {
		if err := bundle.CheckCRDName(wanted.GetName()); err != nil {
			return err // of an optional step, which holds nothing up
		}
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
		if err := x.checkCRD(ctx, s.step.Resolving, wanted, live); err != nil {
			return err
		}
		strategy, _, _ := unstructured.NestedString(wanted.Object, "spec", "conversion", "strategy")
		if _, converted := x.converterOf(x.crds[live.GetName()].upgrade.Live); converted && strategy != string(apiextensionsv1.WebhookConverter) {
			unstructured.RemoveNestedField(wanted.Object, "spec", "conversion")
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
	return slices.Contains(convertedBy(incoming), crd)
}

// converterOf is the operator whose webhook converts a CRD now, if there is one. The controller that runs the operator is the only writer
// of that conversion, and ends it with the operator.
func (x *execution) converterOf(live *apiextensionsv1.CustomResourceDefinition) (operator, bool) {
	c := live.Spec.Conversion
	if c == nil || c.Webhook == nil || c.Webhook.ClientConfig == nil || c.Webhook.ClientConfig.Service == nil {
		return operator{}, false
	}
	i := slices.IndexFunc(x.operators, func(o operator) bool {
		return o.namespace == c.Webhook.ClientConfig.Service.Namespace && slices.Contains(o.converts, live.Name)
	})
	if i < 0 {
		return operator{}, false
	}
	return x.operators[i], true
}

// convertedBy are the CRDs that an operator converts by webhook.
func convertedBy(csv *v1alpha1.ClusterServiceVersion) []string {
	var crds []string
	for _, w := range csv.Spec.WebhookDefinitions {
		if w.Type == v1alpha1.ConversionWebhook {
			crds = append(crds, w.ConversionCRDs...)
		}
	}
	return crds
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
