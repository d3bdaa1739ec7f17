package clusterobjectset

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"
)

// upgraded is a world in which revision 1 runs, and revision 2 waits for its Deployment.
func upgraded(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.revise(options(1, configMap(t, "config", "1"), configMap(t, "old", "1"), deployment(t, "op", "op:v1")))
	w.settle()
	w.run("op", true)
	w.settle()
	w.expect("ext-1", "Progressing=True/Succeeded")
	w.revise(options(2, configMap(t, "config", "2"), deployment(t, "op", "op:v2"), service(t, "new")))
	w.settle()
	return w
}

// TestUpgrade: the next revision takes over what both have; what only the one before has goes when the next is complete.
func TestUpgrade(t *testing.T) {
	w := upgraded(t)
	// The Deployment of the fake server still counts as available.
	want := []string{"ConfigMap/config@2 of ext-2", "Deployment/op@ of ext-2", "Service/new@ of ext-2"}
	must.Equal(t, "objects", w.objects(), want)
	w.expect("ext-2", "Progressing=True/Succeeded: Revision 2.0.0 has rolled out.")
	w.expect("ext-1", "Progressing=False/Archived")
	w.expect("ext-1", "Available=Unknown/Archived")
	w.expect("ext-1", "Succeeded=True/Succeeded")
	if s := w.set("ext-1"); s.Spec.LifecycleState != olmv1.LifecycleStateArchived || len(s.Finalizers) > 0 || w.wanted["ext-1"] {
		t.Errorf("revision 1 is not done with: %s %v", s.Spec.LifecycleState, s.Finalizers)
	}
	w.taken()
	w.settle()
	if len(w.Writes())+len(w.reads) > 0 {
		t.Errorf("nothing has changed, but: %v %v", w.Writes(), w.reads)
	}
}

// stuck is a world in which revision 2 has adopted the Deployment, which does not become available.
func stuck(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.revise(options(1, configMap(t, "config", "1"), configMap(t, "old", "1"), deployment(t, "op", "op:v1")))
	w.settle()
	w.run("op", true)
	w.settle()
	w.run("op", false)
	w.settle()
	w.expect("ext-1", "Available=False/ProbeFailure", "said the test")
	w.revise(options(2, configMap(t, "config", "2"), deployment(t, "op", "op:v2"), service(t, "new")))
	w.settle()
	return w
}

// TestBothAreActive while the next revision rolls out: the one before is in transition, and tells how its objects are.
func TestBothAreActive(t *testing.T) {
	w := stuck(t)
	want := []string{"ConfigMap/config@2 of ext-2", "ConfigMap/old@1 of ext-1", "Deployment/op@ of ext-2", "Service/new@ of ext-2"}
	must.Equal(t, "objects", w.objects(), want)
	w.expect("ext-1", "Progressing=True/RollingOut")
	w.expect("ext-1", "Available=False/ProbeFailure")
	w.expect("ext-2", "Progressing=True/RollingOut")
}

// TestOvertaken: a revision that never worked has not rolled out because the objects of a later one, which took over all of its objects, are
// available. The last one that worked stays until the later one is complete.
func TestOvertaken(t *testing.T) {
	w := stuck(t)
	w.revise(options(3, configMap(t, "config", "3"), deployment(t, "op", "op:v3"), service(t, "new"), deployment(t, "second", "op:v3")))
	w.settle()
	w.run("op", true)
	w.settle()
	w.expect("ext-3", "Progressing=True/RollingOut")
	w.expect("ext-2", "Progressing=True/RollingOut")
	w.expect("ext-2", "Available=False/RollingOut")
	w.expect("ext-2", "Succeeded is not set")
	w.expect("ext-1", "Progressing=True/RollingOut")
	if w.get("ConfigMap", "old") == nil || w.set("ext-1").Spec.LifecycleState != olmv1.LifecycleStateActive {
		t.Errorf("the last revision that worked is retired: %v", w.objects())
	}
	w.run("second", true)
	w.settle()
	w.expect("ext-3", "Succeeded=True/Succeeded")
	w.expect("ext-2", "Succeeded is not set")
	for _, name := range []string{"ext-1", "ext-2"} {
		w.expect(name, "Progressing=False/Archived")
	}
}

// TestGivingUp: a revision that is deleted or archived before it was complete gives back what the one before it is to keep, and only what
// is its own goes.
func TestGivingUp(t *testing.T) {
	for how, give := range map[string]func(w *world){
		"deleted": func(w *world) {
			if err := w.Inner.Delete(w.Context(), w.set("ext-2")); err != nil {
				w.Fatal(err)
			}
		},
		"archived": func(w *world) {
			set := w.set("ext-2")
			set.Spec.LifecycleState = olmv1.LifecycleStateArchived
			if err := w.Inner.Update(w.Context(), set); err != nil {
				w.Fatal(err)
			}
		},
	} {
		t.Run(how, func(t *testing.T) {
			w := stuck(t)
			uid := w.get("Deployment", "op").GetUID()
			give(w)
			w.settle()
			want := []string{"ConfigMap/config@1 of ext-1", "ConfigMap/old@1 of ext-1", "Deployment/op@ of ext-1"}
			must.Equal(t, "objects", w.objects(), want)
			must.Equal(t, "the workload was deleted on the way", w.get("Deployment", "op").GetUID(), uid)
			w.run("op", true)
			w.settle()
			w.expect("ext-1", "Available=True/ProbesSucceeded")
			w.expect("ext-1", "Progressing=True/Succeeded")
		})
	}
}

// TestTeardown removes the last phase first, and tells how far it is.
func TestTeardown(t *testing.T) {
	w := upgraded(t)
	service := w.get("Service", "new")
	held := w.get("Deployment", "op")
	held.SetFinalizers([]string{"example.com/wait"})
	must.NoError(t, w.Inner.Update(t.Context(), held))
	w.taken()
	must.NoError(t, w.Inner.Delete(t.Context(), w.set("ext-2")))
	w.settle()
	w.expect("ext-2", "Progressing=True/Retrying: Revision 2.0.0 is being removed: 3 of 3 objects are left.", "Deployment ns/op is being deleted, which waits for [example.com/wait]")
	if w.get("Service", service.GetName()) == nil || w.get("ConfigMap", "config") == nil {
		t.Error("an earlier phase went before a later one")
	}
	held = w.get("Deployment", "op")
	held.SetFinalizers(nil)
	must.NoError(t, w.Inner.Update(t.Context(), held))
	w.settle()
	if got := w.objects(); len(got) > 0 || slices.Contains(w.names(), "ext-2") {
		t.Errorf("left: %v %v", got, w.names())
	}
	must.Equal(t, "deletions", w.deletions(), []string{"Deployment op", "Service new", "ConfigMap config"})
}

// TestTeardownLeavesOthersAlone: what another client controls by now, or what was made anew, stays.
func TestTeardownLeavesOthersAlone(t *testing.T) {
	w := upgraded(t)
	u := w.get("ConfigMap", "config")
	yes, no := true, false
	u.SetOwnerReferences([]metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: "boss", UID: "boss", Controller: &yes},
		{APIVersion: "olm.operatorframework.io/v1", Kind: "ClusterObjectSet", Name: "ext-2", UID: w.set("ext-2").UID, Controller: &no},
	})
	must.NoError(t, w.Inner.Update(t.Context(), u))
	must.NoError(t, w.Inner.Delete(t.Context(), w.set("ext-2")))
	w.settle()
	must.Equal(t, "objects", w.objects(), []string{"ConfigMap/config@2 of "})
	if owners := w.get("ConfigMap", "config").GetOwnerReferences(); len(owners) != 1 || owners[0].Name != "boss" {
		t.Errorf("owners: %v", owners)
	}
}

// TestOrphaning: objects stay without anything that says that they are managed, also where the garbage collector has been there before: it
// leaves references of which it has not heard.
func TestOrphaning(t *testing.T) {
	for name, tell := range map[string]func(*olmv1.ClusterObjectSet){
		"the garbage collector waits": func(set *olmv1.ClusterObjectSet) {
			set.Finalizers = append(set.Finalizers, metav1.FinalizerOrphanDependents)
		},
		"it has been there before": func(set *olmv1.ClusterObjectSet) {
			metav1.SetMetaDataAnnotation(&set.ObjectMeta, revision.OrphanKey, "true")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := upgraded(t)
			set := w.set("ext-2")
			tell(set)
			must.NoError(t, w.Inner.Update(t.Context(), set))
			must.NoError(t, w.Inner.Delete(t.Context(), set))
			w.settle()
			want := []string{"ConfigMap/config@2 of ", "Deployment/op@ of ", "Service/new@ of "}
			must.Equal(t, "objects", w.objects(), want)
			u := w.get("ConfigMap", "config")
			if len(u.GetLabels())+len(u.GetAnnotations())+len(u.GetOwnerReferences()) > 0 {
				t.Errorf("%v", u.Object["metadata"])
			}
			var left olmv1.ClusterObjectSetList
			must.NoError(t, w.Inner.List(t.Context(), &left))
			for _, l := range left.Items {
				if l.Name == "ext-2" && !slices.Equal(l.Finalizers, []string{metav1.FinalizerOrphanDependents}) {
					t.Errorf("finalizers: %v", l.Finalizers)
				}
			}
		})
	}
}
