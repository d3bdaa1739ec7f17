package installplan

import (
	"context"
	"fmt"
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
			return err
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

// checkCRD objects to an upgrade that would lose data, or break operators that are not part of the plan.
func (x *execution) checkCRD(csv string, wanted, live *unstructured.Unstructured) error {
	incoming, known := x.incoming[csv]
	for _, other := range x.operators {
		if !other.ownsCRD(wanted.GetName()) || other.namespace == x.plan.Namespace && x.family[other.name] {
			continue
		}
		name := fmt.Sprintf("%s %s/%s", v1alpha1.ClusterServiceVersionKind, other.namespace, other.name)
		if other.namespace == x.plan.Namespace && known && incoming.OwnsCRD(wanted.GetName()) {
			return fmt.Errorf("%s %s of %s is provided by %s already; a namespace can have only one of them", crdKind, wanted.GetName(), csv, name)
		}
		if lost := missing(versions(live, servedOnly), versions(wanted, servedOnly)); lost != "" {
			return fmt.Errorf("%s %s is also owned by %s, so every version that it serves must stay, but the new one does not serve %s",
				crdKind, wanted.GetName(), name, lost)
		}
	}
	stored, _, _ := unstructured.NestedStringSlice(live.Object, "status", "storedVersions")
	if lost := missing(stored, versions(wanted, everyVersion)); lost != "" {
		return fmt.Errorf("risk of data loss updating %q: new CRD removes version %s that is listed as a stored version on the existing CRD", wanted.GetName(), lost)
	}
	return nil
}

func servedOnly(version map[string]any) bool { return version["served"] == true }
func everyVersion(map[string]any) bool       { return true }

// versions returns the names of versions of a CRD.
func versions(crd *unstructured.Unstructured, which func(map[string]any) bool) []string {
	all, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	var names []string
	for _, v := range all {
		version, _ := v.(map[string]any)
		if name, ok := version["name"].(string); ok && which(version) {
			names = append(names, name)
		}
	}
	return names
}

// missing returns the first of some names that is not among others; empty is none.
func missing(names, others []string) string {
	for _, name := range names {
		if !slices.Contains(others, name) {
			return name
		}
	}
	return ""
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
