package clusterobjectset

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// reasonContentLost is the reason of the Events that tell what is done where no one can read any more what a revision consists of.
const reasonContentLost = "ContentLost"

// findOut is for a set of which no one can read any more what it consists of: its objects are looked for in the cluster. Those that it
// controls say so.
func (l *contents) findOut(ctx context.Context, set *olmv1.ClusterObjectSet, known *notes, why error) error {
	if len(set.Status.ObservedPhases) == 0 {
		known.discover(nil)
		return nil // nothing is applied before that is noted
	}
	lost := fmt.Sprintf("look for the objects of revision %s, whose content is lost (%v)", set.Name, why)
	refs, err := l.findKind(ctx, set, crdKind)
	if err != nil {
		return fmt.Errorf("%s: list CustomResourceDefinitions: %w", lost, err)
	}
	kinds, unknown, err := l.kinds(ctx)
	if err != nil {
		return fmt.Errorf("%s: find out which kinds of objects the cluster has: %w", lost, err)
	}
	for _, kind := range kinds {
		if kind.GroupKind() == crdKind.GroupKind() {
			continue
		}
		found, err := l.findKind(ctx, set, kind)
		if l.worthWaiting(ctx, set, err) {
			return fmt.Errorf("%s: list %s: %w", lost, kind.GroupKind(), err)
		}
		if err != nil {
			unknown = append(unknown, fmt.Sprintf("%s (%s)", kind.GroupKind(), messages.Error(err)))
		}
		refs = append(refs, found...)
	}
	known.discover(refs)
	text := fmt.Sprintf("The content is lost: %v. Objects that the revision controls were looked for in the cluster: %d are there, and are removed instead.", why, len(refs))
	if len(unknown) > 0 {
		text += fmt.Sprintf(" Kubernetes removes what else it controls when the set goes, of %s.", strings.Join(unknown[:min(len(unknown), 5)], ", "))
	}
	l.events.Event(set, corev1.EventTypeWarning, reasonContentLost, messages.Event(text))
	return nil
}

// findKind finds the objects of a kind that a set controls. CustomResourceDefinitions are those that it owns in whatever way, and all of them have to be
// known: one that goes with the set takes its custom resources along.
func (l *contents) findKind(ctx context.Context, set *olmv1.ClusterObjectSet, kind schema.GroupVersionKind) ([]rollout.Ref, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	definitions, managed := kind == crdKind, client.MatchingLabels{managedByLabel: managedByValue}
	if definitions {
		managed = nil
	}
	err := l.live.List(ctx, list, managed)
	if !definitions && (apierrors.IsNotFound(err) || meta.IsNoMatchError(err) || apierrors.IsMethodNotSupported(err)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var refs []rollout.Ref
	for i := range list.Items {
		o := &list.Items[i]
		if belongs(o, set) || definitions && slices.ContainsFunc(o.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == set.UID }) {
			refs = append(refs, rollout.Ref{GroupVersionKind: kind, Namespace: o.Namespace, Name: o.Name})
		}
	}
	return refs, nil
}

// belongs reports whether a set controls an object, or, of one that is deleted without its objects, has done so: Kubernetes may have taken the
// reference away already.
func belongs(o *metav1.PartialObjectMetadata, set *olmv1.ClusterObjectSet) bool {
	if controller := metav1.GetControllerOfNoCopy(o); controller != nil {
		return controller.UID == set.UID
	}
	return slices.Contains(set.Finalizers, metav1.FinalizerOrphanDependents) && revision.Labelled(o) == revision.Labelled(set) && o.Annotations[revision.NumberKey] == revision.Number(set)
}

// discover remembers which objects there are, in the phases that their kinds belong to.
func (n *notes) discover(refs []rollout.Ref) {
	slices.SortFunc(refs, func(a, b rollout.Ref) int {
		_, left := revision.PhaseOf(a.GroupKind())
		_, right := revision.PhaseOf(b.GroupKind())
		return cmp.Or(cmp.Compare(left, right), strings.Compare(a.String(), b.String()))
	})
	n.phases, n.secrets, n.found = [][]entry{}, nil, []string{}
	for _, ref := range refs {
		name, _ := revision.PhaseOf(ref.GroupKind())
		if last := len(n.found) - 1; last < 0 || n.found[last] != name {
			n.found, n.phases = append(n.found, name), append(n.phases, nil)
		}
		last := len(n.phases) - 1
		n.phases[last] = append(n.phases[last], entry{ref: ref})
	}
}

// deletable are the kinds of a cluster whose objects can be listed and deleted, and the groups of which that cannot be told for now.
func deletable(d discovery.DiscoveryInterface) func(context.Context) ([]schema.GroupVersionKind, []string, error) {
	return func(context.Context) ([]schema.GroupVersionKind, []string, error) {
		lists, err := d.ServerPreferredResources()
		var unknown []string
		if groups, partial := discovery.GroupDiscoveryFailedErrorGroups(err); partial {
			for group := range groups {
				unknown = append(unknown, group.Group)
			}
			slices.Sort(unknown)
		} else if err != nil {
			return nil, nil, err
		}
		var kinds []schema.GroupVersionKind
		for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "delete"}}, lists) {
			version, err := schema.ParseGroupVersion(list.GroupVersion)
			if err != nil {
				continue
			}
			for _, r := range list.APIResources {
				if !strings.Contains(r.Name, "/") {
					kinds = append(kinds, version.WithKind(r.Kind))
				}
			}
		}
		return kinds, slices.Compact(unknown), nil
	}
}
