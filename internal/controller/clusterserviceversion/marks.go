package clusterserviceversion

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/tenancy"
)

// metadataDiffers looks for the finalizer, for the labels of the APIs, and for the annotations through which the pods
// learn about the group. The finalizer does not wait for a group: an InstallPlan makes objects without namespace for the
// CSV whether the group is in order or not, and nobody else removes them.
func (f *facts) metadataDiffers(ctx context.Context) (finding, error) {
	if labelled(f.csv) && !controllerutil.ContainsFinalizer(f.csv, v1alpha1.CSVCleanupFinalizer) {
		return seen("finalizer " + v1alpha1.CSVCleanupFinalizer), nil
	}
	if !maps.Equal(apiLabelsOf(f.csv), bundle.APILabels(f.csv)) {
		return seen("labels of its APIs"), nil
	}
	wanted, err := f.groupAnnotations(ctx)
	if err != nil {
		return seenNot, err
	}
	for name, value := range wanted {
		if have, ok := f.csv.Annotations[name]; !ok || have != value {
			return seen("annotation " + name), nil
		}
	}
	return seenNot, nil
}

// labelled says whether the name of the CSV can be the value of labels. Where it cannot, nothing is ever made for the CSV
// that a finalizer would have to remove.
func labelled(csv *v1alpha1.ClusterServiceVersion) bool {
	return len(csv.Name) <= validation.LabelValueMaxLength
}

// groupAnnotations are those of the group that the CSV is a member of; none while there is no group with targets.
func (f *facts) groupAnnotations(ctx context.Context) (map[string]string, error) {
	group, err := f.group(ctx)
	if err != nil || group == nil || unsynced(group) || len(group.Status.Namespaces) == 0 {
		return nil, err
	}
	return tenancy.MemberAnnotations(group), nil
}

// apiLabelsOf are the labels of APIs that the CSV has.
func apiLabelsOf(csv *v1alpha1.ClusterServiceVersion) map[string]string {
	out := maps.Clone(csv.Labels)
	maps.DeleteFunc(out, func(name, _ string) bool { return !strings.HasPrefix(name, v1alpha1.APILabelPrefix) })
	return out
}

// adopt marks the CSV: with the finalizer, before anything is made for it, the labels of its APIs, and the annotations
// of its group.
func (f *facts) adopt(ctx context.Context) error {
	annotations, err := f.groupAnnotations(ctx)
	if err != nil {
		return err
	}
	updated := f.csv.DeepCopy()
	bundle.MarkOperator(updated, f.csv)
	if updated.Annotations == nil {
		updated.Annotations = map[string]string{}
	}
	maps.Copy(updated.Annotations, annotations)
	patch := client.MergeFromWithOptions(f.csv, client.MergeFromWithOptimisticLock{})
	if err := f.c.client.Patch(ctx, updated, patch, fieldManager); err != nil {
		return fmt.Errorf("mark ClusterServiceVersion %s with its finalizer, the labels of its APIs and its OperatorGroup: %w", f.name(), err)
	}
	f.c.remember(updated)
	f.csv, f.wanted = updated, nil
	return nil
}
