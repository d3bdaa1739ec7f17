package permissions

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/test/must"
)

// foreground: nobody deletes sets in it. The garbage collector would delete the objects of such a set at once, CustomResourceDefinitions with all
// custom resources among them, while the manager wants to keep those. It deletes the revisions of an extension so that goes in the foreground.
func (w *world) foreground(manager client.Client) {
	t := w.t
	collector := w.as("system:serviceaccount:kube-system:generic-garbage-collector")
	there := func(set *olmv1.ClusterObjectSet, finalizers ...string) *olmv1.ClusterObjectSet {
		set.Finalizers = finalizers
		must.NoError(t, w.Create(t.Context(), set))
		t.Cleanup(func() {
			if err := w.Delete(context.Background(), set, client.PropagationPolicy(metav1.DeletePropagationBackground)); client.IgnoreNotFound(err) != nil {
				t.Error(err)
			}
		})
		return set
	}
	ext := extension("gone", "")
	must.NoError(t, w.Create(t.Context(), ext))
	t.Cleanup(func() { _ = w.Delete(context.Background(), ext) })
	owned := revisionSet("gone-1", "")
	owned.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(ext, extensionKind)}
	there(owned)
	byHand := there(revisionSet("by-hand-1", ""))
	// Who may write a set may ask for this before it is deleted: it counts when the deletion says nothing of its own.
	prepared := there(revisionSet("prepared-1", ""), metav1.FinalizerDeleteDependents)
	const foreground, background, orphan = metav1.DeletePropagationForeground, metav1.DeletePropagationBackground, metav1.DeletePropagationOrphan
	remove := func(c client.Client, set *olmv1.ClusterObjectSet, how metav1.DeletionPropagation) error {
		options := []client.DeleteOption{client.DryRunAll}
		if how != "" {
			options = append(options, client.PropagationPolicy(how))
		}
		return c.Delete(t.Context(), set.DeepCopy(), options...)
	}
	w.awaitPolicies(func() error { return remove(w.Client, byHand, foreground) })
	const mayNot = "ClusterObjectSets are not deleted in the foreground"
	for name, test := range map[string]struct {
		who     client.Client
		set     *olmv1.ClusterObjectSet
		how     metav1.DeletionPropagation
		refused string
	}{
		"a revision, by the collector":                            {collector, owned, foreground, mayNot},
		"a revision, by the manager":                              {manager, owned, foreground, mayNot},
		"a revision, by an administrator":                         {w.Client, owned, foreground, mayNot},
		"a set by hand":                                           {w.Client, byHand, foreground, mayNot},
		"one that was prepared for it":                            {w.Client, prepared, "", mayNot},
		"one that was prepared for it, in the foreground":         {w.Client, prepared, foreground, mayNot},
		"one that was prepared for it, but in the background":     {manager, prepared, background, ""},
		"one that was prepared for it, but leaving its objects":   {w.Client, prepared, orphan, ""},
		"a revision in the background, by the collector":          {collector, owned, background, ""},
		"a revision in the background, by the manager":            {manager, owned, background, ""},
		"a revision, by the manager, that says nothing about how": {manager, owned, "", ""},
		"a revision that leaves its objects, by an administrator": {w.Client, owned, orphan, ""},
		"a set by hand, as kubectl does it when nothing is said":  {w.Client, byHand, background, ""},
		"a set by hand, by who says nothing about how":            {w.Client, byHand, "", ""},
	} {
		t.Run(name, func(t *testing.T) { expect(t, remove(test.who, test.set, test.how), test.refused) })
	}
	t.Run("all at once", func(t *testing.T) {
		err := w.DeleteAllOf(t.Context(), &olmv1.ClusterObjectSet{}, client.PropagationPolicy(foreground), client.DryRunAll)
		expect(t, err, mayNot)
	})
	t.Run("their extension", func(t *testing.T) {
		expect(t, w.Delete(t.Context(), ext.DeepCopy(), client.PropagationPolicy(foreground), client.DryRunAll), "")
	})
}
