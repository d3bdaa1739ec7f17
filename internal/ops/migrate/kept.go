package migrate

import (
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Hold is the finalizer that keeps a ClusterServiceVersion in sight, as one that is being deleted, until its Subscription is gone. Whoever
// deletes the namespace meanwhile does not wait for it.
const Hold = "operators.fairlead.dev/migration"

// Kept is where a backup is kept, and what was noted there since.
type Kept struct {
	// Mark says which Secret it is, and what it holds. The ClusterExtension has it, too, so that no other Secret can take its place.
	Mark string
	// Extension is the UID of the ClusterExtension, once that was made.
	Extension types.UID
	// Added are the UIDs of what the extension has besides, in the order of Backup.Added; empty for what it does not have.
	Added []types.UID
	// Returned is the UID of the Subscription that has its operator back.
	Returned types.UID
}

// check refuses a backup that no migration can have written: whoever goes back creates what it says.
func (b *Backup) check() error {
	ours := func(u *unstructured.Unstructured, kind string) bool {
		return u != nil && u.GroupVersionKind().Group == v1alpha1.GroupName && u.GetKind() == kind && u.GetNamespace() == b.CSV.Namespace && u.GetName() != ""
	}
	switch {
	case !ours(b.Subscription, v1alpha1.SubscriptionKind), !ours(b.Version, v1alpha1.ClusterServiceVersionKind), b.Extension == nil:
		return fmt.Errorf("it lacks the Subscription, the ClusterServiceVersion or the ClusterExtension")
	case b.Version.GetName() != b.CSV.Name:
		return fmt.Errorf("it is about ClusterServiceVersion %s, and has %s", b.CSV, Name(b.Version))
	case b.Extension.Name == "" || b.Extension.Spec.Namespace != b.CSV.Namespace || b.Extension.Annotations[AdoptsKey] != b.CSV.String() || b.Extension.Spec.Source.SourceType != olmv1.SourceTypeCatalog:
		return fmt.Errorf("its ClusterExtension %s does not take ClusterServiceVersion %s over", b.Extension.Name, b.CSV)
	}
	for _, u := range b.Plans {
		if !ours(u, v1alpha1.InstallPlanKind) {
			return fmt.Errorf("it has %s as an InstallPlan", Name(u))
		}
	}
	for _, u := range b.Removed {
		if err := b.mayComeBack(u); err != nil {
			return err
		}
	}
	return nil
}

// mayComeBack: roles and bindings of the very ClusterServiceVersion, and the Operator, which the manager makes again.
func (b *Backup) mayComeBack(u *unstructured.Unstructured) error {
	gvk := u.GroupVersionKind()
	if gvk.GroupKind().String() == "Operator."+v1alpha1.GroupName {
		return nil
	}
	if gvk.Group != rbacv1.GroupName || !slices.Contains(roleKinds, gvk.Kind) {
		return fmt.Errorf("it has %s to make again, and only roles and bindings are made again", Name(u))
	}
	if !(Owner{CSV: b.CSV}).labelled(u) {
		return fmt.Errorf("it has %s to make again, which does not have the labels of ClusterServiceVersion %s", Name(u), b.CSV)
	}
	return nil
}
