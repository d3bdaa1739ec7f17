package clusterextension

import (
	"context"
	"testing"

	"fairlead.dev/fairlead/test/must"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// deletions reports with which policy objects are deleted, which the fake client does not keep.
type deletions struct {
	client.Client
	report func(client.Object, metav1.DeletionPropagation)
}

func (d deletions) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	policy := metav1.DeletionPropagation("")
	if how := (&client.DeleteOptions{}).ApplyOptions(opts).PropagationPolicy; how != nil {
		policy = *how
	}
	d.report(o, policy)
	return d.Client.Delete(ctx, o, opts...)
}

// TestOrphaning: an extension that is deleted with --cascade=orphan leaves everything, also where Kubernetes has removed its finalizer and
// the references to the extension before the controller comes to look, and where the controller is interrupted.
func TestOrphaning(t *testing.T) {
	collect := func(w *world) {
		for _, r := range w.revisions("my") {
			r.OwnerReferences = nil
			w.must(w.client.Update(t.Context(), &r))
		}
		ext := w.extension("my")
		ext.Finalizers = []string{olmv1.CleanupContentManagerCacheFinalizer}
		w.must(w.client.Update(t.Context(), ext))
	}
	for name, test := range map[string]struct {
		before func(*world)
		failAt int
	}{
		"the controller is first":         {before: func(*world) {}},
		"Kubernetes is first":             {before: collect},
		"interrupted at the first write":  {before: collect, failAt: 1},
		"interrupted at the second write": {before: collect, failAt: 2},
		"interrupted at the last write":   {before: collect, failAt: 6},
	} {
		t.Run(name, func(t *testing.T) {
			w := newServingWorld(t)
			w.settle("my")
			w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
			w.pass("my") // my-2 rolls out
			d := want("db", "db", "")
			d.Labels, d.Annotations = map[string]string{dependencyLabel: "true"}, map[string]string{requiredByKey: "my"}
			w.add(d)
			policies := map[string]metav1.DeletionPropagation{}
			w.controller.client = deletions{w.server, func(o client.Object, policy metav1.DeletionPropagation) {
				policies[o.GetName()] = policy
				if set := (&olmv1.ClusterObjectSet{}); w.client.Get(t.Context(), client.ObjectKeyFromObject(o), set) == nil && !revision.Orphans(set) {
					t.Errorf("%s is deleted before it says that its objects stay", set.Name)
				}
			}}
			ext := w.extension("my")
			ext.Finalizers = append(ext.Finalizers, metav1.FinalizerOrphanDependents)
			w.must(w.client.Update(t.Context(), ext))
			w.must(w.client.Delete(t.Context(), w.extension("my")))
			test.before(w)
			w.server.KillAt(test.failAt, false)
			for range 4 {
				if _, err := w.controller.Reconcile(t.Context(), requestFor("my")); err != nil {
					t.Log(err)
				}
			}
			must.Equal(t, "deleted are", policies, map[string]metav1.DeletionPropagation{"my-1": metav1.DeletePropagationOrphan, "my-2": metav1.DeletePropagationOrphan})
			w.secret()
			w.extension("db")
			if w.exists("my") {
				must.Equal(t, "finalizers", w.extension("my").Finalizers, []string{metav1.FinalizerOrphanDependents})
			}
		})
	}
}

// TestStrangersAreNoOrphans: a set that only calls itself a revision does not keep the objects of those that are.
func TestStrangersAreNoOrphans(t *testing.T) {
	w := newServingWorld(t)
	w.settle("my")
	stranger := &olmv1.ClusterObjectSet{Spec: olmv1.ClusterObjectSetSpec{LifecycleState: olmv1.LifecycleStateActive, Revision: 7}}
	stranger.Name, stranger.Labels = "stranger", map[string]string{olmv1.OwnerKindKey: olmv1.ClusterExtensionKind, olmv1.OwnerNameKey: "my"}
	w.add(stranger)
	w.remove("my")
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: served.Secret}, &corev1.Secret{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the certificate stays: %v", err)
	}
	w.must(w.client.Get(t.Context(), client.ObjectKeyFromObject(stranger), stranger))
}
