package clusterobjectset

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	"fairlead.dev/fairlead/test/must"
)

// lose deletes the Secrets of a revision, in a manager that does not know what was in them.
func (w *world) lose(name string) {
	w.Helper()
	for _, p := range w.set(name).Spec.Phases {
		for _, o := range p.Objects {
			err := w.Inner.Delete(w.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: o.Ref.Name}})
			if client.IgnoreNotFound(err) != nil {
				w.Fatal(err)
			}
		}
	}
	w.restart()
}

// give lets a set go in one of two ways.
func (w *world) give(name, how string) {
	w.Helper()
	set := w.set(name)
	if how == "deleted" {
		if err := w.Inner.Delete(w.Context(), set); err != nil {
			w.Fatal(err)
		}
		return
	}
	set.Spec.LifecycleState = olmv1.LifecycleStateArchived
	if err := w.Inner.Update(w.Context(), set); err != nil {
		w.Fatal(err)
	}
}

// deletions are those of the writes since the last call.
func (w *world) deletions() []string {
	var deleted []string
	for _, what := range w.taken() {
		if kind, ok := strings.CutPrefix(what, "delete "); ok {
			deleted = append(deleted, kind)
		}
	}
	return deleted
}

// told returns the Events since the last call.
func (w *world) told() string {
	var all []string
	for len(w.Events.Events) > 0 {
		all = append(all, <-w.Events.Events)
	}
	return strings.Join(all, "\n")
}

// TestLostContent: what a set controls that no one can read any more is looked for in the cluster, and goes in the order of its kinds.
func TestLostContent(t *testing.T) {
	for _, how := range []string{"deleted", "archived"} {
		t.Run(how, func(t *testing.T) {
			w := upgraded(t)
			w.lose("ext-2")
			w.unknown = []string{"metrics.example.com"}
			must.NoError(t, w.Inner.Create(t.Context(), configMap(t, "theirs", "1")))
			w.told()
			w.taken()
			w.give("ext-2", how)
			w.settle()
			must.Equal(t, "objects", w.objects(), []string{"ConfigMap/theirs@1 of "})
			must.Equal(t, "deletions", w.deletions(), []string{"Deployment op", "Service new", "ConfigMap config"})
			told := w.told()
			for _, want := range []string{"Warning ContentLost The content is lost", "not found", "3 are there", "of metrics.example.com"} {
				must.Equal(t, "count", strings.Count(told, want), 1)
			}
			switch {
			case how == "deleted" && slices.Contains(w.names(), "ext-2"):
				t.Error("the set does not go")
			case how == "archived":
				w.expect("ext-2", "Progressing=False/Archived")
			}
		})
	}
}

// TestLostContentOfOrphans: objects that are to stay do, without anything that says that they are managed, also when Kubernetes has taken
// their owner away already.
func TestLostContentOfOrphans(t *testing.T) {
	w := upgraded(t)
	u := w.get("ConfigMap", "config")
	u.SetOwnerReferences(nil)
	must.NoError(t, w.Inner.Update(t.Context(), u))
	w.lose("ext-2")
	set := w.set("ext-2")
	set.Finalizers = append(set.Finalizers, metav1.FinalizerOrphanDependents)
	must.NoError(t, w.Inner.Update(t.Context(), set))
	w.give("ext-2", "deleted")
	w.settle()
	want := []string{"ConfigMap/config@2 of ", "Deployment/op@ of ", "Service/new@ of "}
	must.Equal(t, "objects", w.objects(), want)
	for _, kind := range []string{"ConfigMap", "Deployment", "Service"} {
		name := map[string]string{"ConfigMap": "config", "Deployment": "op", "Service": "new"}[kind]
		if u := w.get(kind, name); len(u.GetLabels())+len(u.GetAnnotations())+len(u.GetOwnerReferences()) > 0 {
			t.Errorf("%v", u.Object["metadata"])
		}
	}
}

// TestGivingUpWithoutContent: a revision that is given up gives back what it can be known to have.
func TestGivingUpWithoutContent(t *testing.T) {
	for _, how := range []string{"deleted", "archived"} {
		t.Run("its own is lost, "+how, func(t *testing.T) {
			w := stuck(t)
			uid := w.get("Deployment", "op").GetUID()
			w.lose("ext-2")
			w.give("ext-2", how)
			w.settle()
			want := []string{"ConfigMap/config@1 of ext-1", "ConfigMap/old@1 of ext-1", "Deployment/op@ of ext-1"}
			must.Equal(t, "objects", w.objects(), want)
			must.Equal(t, "the workload was deleted on the way", w.get("Deployment", "op").GetUID(), uid)
		})
		t.Run("that of the one before is lost, "+how, func(t *testing.T) {
			w := stuck(t)
			had := w.objects()
			w.lose("ext-1")
			w.told()
			w.give("ext-2", how)
			w.settle()
			for i := range had {
				kind, _, _ := strings.Cut(had[i], " of ")
				had[i] = kind + " of ext-1"
			}
			must.Equal(t, "what nobody knows to be needless does not stay", w.objects(), had)
			must.Equal(t, "count", strings.Count(w.told(), "The content of revision ext-1 is lost"), 1)
			if how == "deleted" && slices.Contains(w.names(), "ext-2") {
				t.Error("the set does not go")
			}
			w.give("ext-1", "deleted")
			w.settle()
			if got := w.objects(); len(got) > 0 || slices.Contains(w.names(), "ext-1") {
				t.Errorf("left: %v, %v", got, w.names())
			}
		})
	}
}

// TestContentThatNobodyHasSeen: a set that was never read has no objects, so nothing is looked for.
func TestContentThatNobodyHasSeen(t *testing.T) {
	for name, secret := range map[string]*corev1.Secret{"mutable": userSecret("1", false), "no object": userSecret(`"`, true)} {
		w := newWorld(t, secret)
		set := newSet("mine", 1)
		set.Labels, set.OwnerReferences = nil, nil
		set.Spec.LifecycleState, set.Spec.CollisionProtection = olmv1.LifecycleStateActive, olmv1.CollisionProtectionPrevent
		set.Spec.Phases = []olmv1.ClusterObjectSetPhase{{Name: "first", Objects: []olmv1.ClusterObjectSetObject{{Ref: &olmv1.ObjectSourceRef{Name: "objects", Key: "config"}}}}}
		must.NoError(t, w.Inner.Create(t.Context(), set))
		w.settle()
		w.give("mine", "deleted")
		w.settle()
		must.Empty(t, name, w.names())
	}
}
