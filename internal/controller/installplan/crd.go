package installplan

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/tenancy"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// adjustCRD refuses a CRD that would lose data or break others, and records whom it was installed with.
func (x *replacements) adjustCRD(ctx context.Context, s *stepRun) rollout.Adjust {
	return func(wanted, live *unstructured.Unstructured) error {
		if err := bundle.CheckCRDName(wanted.GetName()); err != nil {
			return err // of an optional step, which holds nothing up
		}
		if x.definitions.Converts(s.step.Resolving, wanted.GetName()) {
			// The controller that runs the operator switches conversion on when the webhook answers, and is its only writer.
			unstructured.RemoveNestedField(wanted.Object, "spec", "conversion")
		}
		// Take out of the manifest what only the manager and administrators decide about a CRD: for whom it was brought, who may adopt it, what its
		// upgrades are exempted from, whether users get access to it, and what it is deleted with or waits for. The garbage collector would delete
		// a CRD whose owner does not exist, with every object of it.
		own, labels := wanted.GetAnnotations(), wanted.GetLabels()
		maps.DeleteFunc(own, func(key, _ string) bool {
			return isEvidence(key) || key == v1alpha1.AdoptableByAnnotation || key == crd.ExemptionsKey
		})
		delete(labels, v1alpha1.ProvidedRolesLabel)
		wanted.SetAnnotations(own)
		wanted.SetLabels(labels)
		wanted.SetOwnerReferences(nil)
		wanted.SetFinalizers(nil)
		annotations := x.alongside(ctx, s.step.Resolving, wanted, live)
		origin := x.plan.Namespace // whose plan creates the CRD, or created it; empty when it was there before any plan
		if live != nil {
			origin = tenancy.Origin(live, x.plan.Namespace)
		}
		if origin != "" {
			annotations[v1alpha1.OriginAnnotation] = v1alpha1.OriginInstallPlan + "/" + origin
		}
		wanted.SetAnnotations(annotations)
		if live == nil {
			return nil
		}
		if err := x.checkCRD(ctx, s.step.Resolving, wanted, live); err != nil {
			return err
		}
		strategy, _, _ := unstructured.NestedString(wanted.Object, "spec", "conversion", "strategy")
		if _, converted := x.definitions.ConverterOf(x.crds[live.GetName()].change.Live); converted && strategy != string(apiextensionsv1.WebhookConverter) {
			unstructured.RemoveNestedField(wanted.Object, "spec", "conversion")
		}
		for key, value := range live.GetAnnotations() {
			if strings.HasPrefix(key, v1alpha1.InstalledAlongsideAnnotationPrefix) && annotations[key] == "" && x.definitions.IsOperator(ctx, value) {
				annotations[key] = value
				namespace, csv, _ := strings.Cut(value, "/")
				if by := bundle.BroughtByKey(namespace, csv); live.GetAnnotations()[by] != "" {
					annotations[by] = live.GetAnnotations()[by]
				}
			}
		}
		wanted.SetAnnotations(annotations)
		if x.crds[live.GetName()].claim.Join {
			// Leave a CRD that is shared as it is but for the annotations that record who brought it: what the step defines equally may still
			// differ in what an author must not change for other owners, such as the CA bundle of a conversion, short names or labels.
			spec, _, err := unstructured.NestedMap(live.Object, "spec")
			if err != nil {
				return fmt.Errorf("read the spec of %s %s: %w", crdKind, live.GetName(), err)
			}
			if _, converts, _ := unstructured.NestedMap(wanted.Object, "spec", "conversion"); !converts {
				delete(spec, "conversion") // its writer is the controller that runs the operator
			}
			annotations := live.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			delete(annotations, corev1.LastAppliedConfigAnnotation)
			for key, value := range wanted.GetAnnotations() {
				if isEvidence(key) {
					annotations[key] = value
				}
			}
			wanted.Object["spec"] = spec
			wanted.SetLabels(live.GetLabels())
			wanted.SetAnnotations(annotations)
		}
		return nil
	}
}

// alongside are the annotations of a CRD with those that say with which operator it is installed; a step may be of none.
func (x *replacements) alongside(ctx context.Context, csv string, wanted, live *unstructured.Unstructured) map[string]string {
	annotations := wanted.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	if csv == "" {
		return annotations
	}
	alongside, broughtBy := x.plan.Namespace+"/"+csv, bundle.BroughtByKey(x.plan.Namespace, csv)
	annotations[bundle.InstalledAlongsideKey(x.plan.Namespace, csv)] = alongside
	annotations[broughtBy] = string(x.plan.UID)
	if live != nil { // brought by another plan, where the operator is there already
		if by := live.GetAnnotations()[broughtBy]; by != "" && by != string(x.plan.UID) && x.definitions.IsOperator(ctx, alongside) {
			annotations[broughtBy] = by
		}
	}
	return annotations
}

// isEvidence reports whether an annotation is one by which plans record for whom they brought a CRD.
func isEvidence(key string) bool {
	return strings.HasPrefix(key, v1alpha1.InstalledAlongsideAnnotationPrefix) || strings.HasPrefix(key, v1alpha1.BroughtByAnnotationPrefix) || key == v1alpha1.OriginAnnotation
}
