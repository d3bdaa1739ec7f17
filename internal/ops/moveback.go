package ops

import (
	"context"
	"fmt"
	"maps"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops/migrate"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// subscribe brings the Subscription back, with Manual approval: its configuration counts before there is a ClusterServiceVersion, and it must
// not upgrade before all is as it was.
func (m restoration) subscribe(ctx context.Context) error {
	b := m.Backup
	sub := migrate.New(b.Subscription)
	annotations := sub.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[frozenKey] = b.Extension.Name
	sub.SetAnnotations(annotations)
	if err := unstructured.SetNestedField(sub.Object, string(v1alpha1.ApprovalManual), "spec", "installPlanApproval"); err != nil {
		return fmt.Errorf("write Subscription %s: %w", sub.GetName(), err)
	}
	return m.recreate(ctx, sub, b.Subscription, "")
}

// recreate creates an object where it is not there, and gives it the status that it had, unless it has that field of it by now; without a
// field it gets none.
func (m restoration) recreate(ctx context.Context, object, had *unstructured.Unstructured, field string) error {
	live, err := m.read(ctx, migrate.RefOf(object))
	if err != nil {
		return err
	}
	if live == nil {
		live = object.DeepCopy()
		if err := m.Client.Create(ctx, live, moveOwner); err != nil {
			return fmt.Errorf("create %s again: %w", migrate.RefOf(had), err)
		}
	}
	if field == "" {
		return nil
	}
	is, _, _ := unstructured.NestedString(live.Object, "status", field)
	was, _, _ := unstructured.NestedString(had.Object, "status", field)
	if is == was || was == "" {
		return nil
	}
	before, status := live.DeepCopy(), had.DeepCopy()
	for _, gone := range []string{"installPlanRef", "installplan"} {
		unstructured.RemoveNestedField(status.Object, "status", gone)
	}
	live.Object["status"] = status.Object["status"]
	if err := m.Client.Status().Patch(ctx, live, client.MergeFrom(before), moveOwner); err != nil {
		return fmt.Errorf("give %s the status that it had: %w", migrate.RefOf(had), err)
	}
	return nil
}

// bringBack creates the ClusterServiceVersion again, once one that is being deleted is gone, and lets the Subscription have it.
func (m restoration) bringBack(ctx context.Context) error {
	b := m.Backup
	ref := migrate.RefOf(b.Version)
	live, err := m.read(ctx, ref)
	if err != nil {
		return err
	}
	if live != nil && live.GetDeletionTimestamp() != nil {
		if err := m.unhold(ctx, ref); err != nil {
			return err
		}
		if err := m.gone(ctx, ref, string(live.GetUID())); err != nil {
			return err
		}
		live = nil
	}
	if live == nil {
		if err := m.recreate(ctx, migrate.New(b.Version), b.Version, "phase"); err != nil {
			return err
		}
	}
	// What the Subscription has installed it can say only now: before, there was no ClusterServiceVersion of that name.
	return m.recreate(ctx, migrate.New(b.Subscription), b.Subscription, "installedCSV")
}

// giveBack makes what was removed again, and the ClusterServiceVersion the owner of what it owned.
func (m restoration) giveBack(ctx context.Context) error {
	b := m.Backup
	csv, err := m.read(ctx, migrate.RefOf(b.Version))
	if err != nil {
		return err
	}
	if csv == nil {
		return fmt.Errorf("read ClusterServiceVersion %s: another client has deleted it meanwhile; retry", b.CSV)
	}
	for _, u := range b.Removed {
		if u.GetKind() == "Operator" {
			continue // which the manager makes again
		}
		if live, err := m.read(ctx, migrate.RefOf(u)); err != nil || live != nil {
			if err != nil {
				return err
			}
			continue
		}
		again := migrate.New(u)
		migrate.Restore(again, migrate.Meta(u), b.CSV, csv.GetUID(), revisionManager)
		if err := m.Client.Create(ctx, again, moveOwner); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create %s again: %w", migrate.RefOf(u), err)
		}
	}
	return m.restore(ctx, csv.GetUID())
}

// disown takes off an object the marks of revisions that it did not have before: the next migration would take it for one that a user has taken
// away from its revision.
func disown(o, had metav1.Object) bool {
	without := func(is, had map[string]string) map[string]string {
		out := maps.Clone(is)
		maps.DeleteFunc(out, func(key, _ string) bool {
			_, before := had[key]
			return strings.HasPrefix(key, olmv1.GroupName+"/") && !before
		})
		return out
	}
	labels, annotations := without(o.GetLabels(), had.GetLabels()), without(o.GetAnnotations(), had.GetAnnotations())
	if len(labels) == len(o.GetLabels()) && len(annotations) == len(o.GetAnnotations()) {
		return false
	}
	o.SetLabels(labels)
	o.SetAnnotations(annotations)
	return true
}
