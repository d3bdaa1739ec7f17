package revision

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// History is the revisions of an extension, the oldest first.
type History []olmv1.ClusterObjectSet

// Sorted puts revisions into the order of a History, which List returns them in.
func Sorted(all []olmv1.ClusterObjectSet) History {
	slices.SortFunc(all, func(a, b olmv1.ClusterObjectSet) int { return cmp.Compare(a.Spec.Revision, b.Spec.Revision) })
	return all
}

// Active reports whether the objects of a revision are maintained.
func Active(set *olmv1.ClusterObjectSet) bool {
	return set.Spec.LifecycleState != olmv1.LifecycleStateArchived && set.DeletionTimestamp.IsZero()
}

// Installed returns the newest active revision that was rolled out once; nil when there is none.
func Installed(all []olmv1.ClusterObjectSet) *olmv1.ClusterObjectSet { return History(all).Installed() }

// Installed returns the newest active revision that was rolled out once; nil when there is none.
func (h History) Installed() *olmv1.ClusterObjectSet {
	return h.last(func(r *olmv1.ClusterObjectSet) bool {
		return Active(r) && meta.IsStatusConditionTrue(r.Status.Conditions, olmv1.TypeSucceeded)
	})
}

// Newest returns the newest active revision, which is the last desired state; nil when there is none.
func (h History) Newest() *olmv1.ClusterObjectSet { return h.last(Active) }

// Numbered returns the revision of a number, archived ones included; nil when there is none.
func (h History) Numbered(n int64) *olmv1.ClusterObjectSet {
	return h.last(func(r *olmv1.ClusterObjectSet) bool { return r.Spec.Revision == n && r.DeletionTimestamp.IsZero() })
}

func (h History) last(is func(*olmv1.ClusterObjectSet) bool) *olmv1.ClusterObjectSet {
	for i := len(h) - 1; i >= 0; i-- {
		if is(&h[i]) {
			return &h[i]
		}
	}
	return nil
}

// Rolling returns the active revisions that were never rolled out, the oldest first.
func (h History) Rolling() []*olmv1.ClusterObjectSet {
	var all []*olmv1.ClusterObjectSet
	for i := range h {
		if Active(&h[i]) && !meta.IsStatusConditionTrue(h[i].Status.Conditions, olmv1.TypeSucceeded) {
			all = append(all, &h[i])
		}
	}
	return all
}

// Next returns the number of the next revision.
func (h History) Next() int64 {
	if len(h) == 0 {
		return 1
	}
	return h[len(h)-1].Spec.Revision + 1
}

// Failed reports whether the rollout of a revision has ended without success.
func Failed(r *olmv1.ClusterObjectSet) bool {
	c := meta.FindStatusCondition(r.Status.Conditions, olmv1.TypeProgressing)
	return c != nil && (c.Reason == olmv1.ReasonProgressDeadlineExceeded || c.Reason == olmv1.ReasonCrashLoopBackOff || c.Reason == olmv1.ReasonBlocked) &&
		!meta.IsStatusConditionTrue(r.Status.Conditions, olmv1.TypeSucceeded)
}

// Retention is how many revisions of an extension are kept, the active ones included.
const Retention = 5

// List returns the revisions of an extension, the oldest first. Labels say where to look, and no more: a set is a revision of the extension
// that is its controller.
func List(ctx context.Context, reader client.Reader, extension string, uid types.UID) ([]olmv1.ClusterObjectSet, error) {
	var list olmv1.ClusterObjectSetList
	if err := reader.List(ctx, &list, client.MatchingLabels{olmv1.OwnerNameKey: olmv1.LabelValue(extension)}); err != nil {
		return nil, fmt.Errorf("list the revisions of ClusterExtension %s: %w", extension, err)
	}
	list.Items = slices.DeleteFunc(list.Items, func(set olmv1.ClusterObjectSet) bool {
		name, of := ExtensionOf(&set)
		return name != extension || of != uid
	})
	slices.SortFunc(list.Items, func(a, b olmv1.ClusterObjectSet) int {
		return cmp.Or(cmp.Compare(a.Spec.Revision, b.Spec.Revision), cmp.Compare(a.Name, b.Name))
	})
	return list.Items, nil
}

// ExtensionOf is the name and the UID of the ClusterExtension that a set is a revision of: of its controller. Both are empty for a set that
// is none. A user who may make sets can give them any labels; who may name an extension as the controller is decided by the policies in config.
func ExtensionOf(set metav1.Object) (name string, uid types.UID) {
	owner := metav1.GetControllerOfNoCopy(set)
	if owner == nil || owner.Kind != olmv1.ClusterExtensionKind || !strings.HasPrefix(owner.APIVersion, olmv1.GroupName+"/") {
		return "", ""
	}
	return owner.Name, owner.UID
}

// NameOf is the name of the ClusterExtension that a set is of, for people to read and for events of it: that of its controller, or, where it has
// none, the one that its labels give.
func NameOf(set metav1.Object) string {
	if name, _ := ExtensionOf(set); name != "" {
		return name
	}
	labels := set.GetLabels()
	if kind := labels[olmv1.OwnerKindKey]; kind != "" && kind != olmv1.ClusterExtensionKind {
		return ""
	}
	return labels[olmv1.OwnerNameKey]
}

// Retain deletes the archived revisions of an extension that are not among its newest. The revisions are those of List; active ones stay.
func Retain(ctx context.Context, c client.Client, revisions []olmv1.ClusterObjectSet) error {
	for i := range revisions[:max(0, len(revisions)-Retention)] {
		r := &revisions[i]
		if r.Spec.LifecycleState != olmv1.LifecycleStateArchived || r.DeletionTimestamp != nil {
			continue
		}
		if err := client.IgnoreNotFound(c.Delete(ctx, r, client.Preconditions{UID: &r.UID}, client.PropagationPolicy(metav1.DeletePropagationBackground))); err != nil {
			return fmt.Errorf("delete revision %s, which is archived and not among the %d newest: %w", r.Name, Retention, err)
		}
	}
	return nil
}
