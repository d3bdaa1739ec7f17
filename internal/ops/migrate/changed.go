package migrate

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Now is what the cluster has of an install that a backup was made of earlier.
type Now struct {
	*Install
	// Subscription is that of the install as the API server has it.
	Subscription *unstructured.Unstructured
	// Adopted are those of the objects that are to be adopted which are there.
	Adopted map[Ref]*unstructured.Unstructured
	// Begun says that the ClusterExtension is there, so that the objects may be its already.
	Begun bool
}

// Changed says what is not as it was when the backup was made, and makes it one of something else. None of it is for long: minutes pass while
// a user reads what would be done, and a Subscription upgrades meanwhile.
func (b *Backup) Changed(now Now) (out []string) {
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	sub, csv := RefOf(b.Subscription), now.CSV
	if now.Subscription.GetUID() != b.Subscription.GetUID() {
		say("%s is another one of that name", sub)
		return out
	}
	if csv.Name != b.CSV.Name {
		say("%s has installed ClusterServiceVersion %s", sub, csv.Name)
		return out
	}
	if csv.UID != b.Version.GetUID() {
		say("ClusterServiceVersion %s was deleted and made again", b.CSV)
	}
	current := now.Install.Subscription.Status.CurrentCSV
	awaited := slices.ContainsFunc(now.Plans, func(p v1alpha1.InstallPlan) bool { // it waits for the approval of an InstallPlan
		return !p.Spec.Approved && ownedBy(&p, now.Install.Subscription) && slices.Contains(p.Spec.ClusterServiceVersionNames, current)
	})
	if current != csv.Name && !awaited {
		say("%s continues to ClusterServiceVersion %s", sub, current)
	}
	if !slices.Contains(csv.Finalizers, Hold) { // else its spec.cleanup may have been switched off
		if csv.DeletionTimestamp != nil {
			say("ClusterServiceVersion %s is being deleted", b.CSV)
		}
		if csv.Generation != b.Version.GetGeneration() {
			say("another client has changed the spec of ClusterServiceVersion %s", b.CSV)
		}
	}
	if key := v1alpha1.TargetNamespacesAnnotation; csv.Annotations[key] != b.Version.GetAnnotations()[key] {
		say("ClusterServiceVersion %s has namespaces %q in place of %q: the OperatorGroup was changed", b.CSV, csv.Annotations[key], b.Version.GetAnnotations()[key])
	}
	if !equality.Semantic.DeepEqual(asked(now.Subscription), asked(b.Subscription)) {
		say("another client has changed the spec of %s", sub)
	}
	out = append(out, now.underWay()...)
	// The objects that cannot be adopted any more.
	owner := OwnerOf(now.CSV, now.Others)
	for _, u := range b.Adopted {
		live := now.Adopted[RefOf(u)]
		switch {
		case live == nil:
			say("%s is gone", RefOf(u))
		case live.GetUID() != u.GetUID():
			say("%s was deleted and made again", RefOf(u))
		case live.GetDeletionTimestamp() != nil:
			say("%s is being deleted", RefOf(u))
		case !now.Begun && owner.Refused(live) != "":
			say("%s cannot be adopted any more: %s", RefOf(u), owner.Refused(live))
		}
	}
	return out
}

// asked is the spec of a Subscription but for its approval, which a migration changes.
func asked(sub *unstructured.Unstructured) map[string]any {
	spec, _, _ := unstructured.NestedMap(sub.Object, "spec")
	delete(spec, "installPlanApproval")
	return spec
}
