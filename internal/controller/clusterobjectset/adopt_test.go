package clusterobjectset

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"
)

// existing is a definition with a label.
func existing(t testing.TB, value string) *unstructured.Unstructured {
	return object(t, fmt.Sprintf(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com, labels: {key: %q}}, spec: {group: example.com,
		names: {kind: Thing, plural: things}, scope: Namespaced, versions: [{name: v1, served: true, storage: true}]},
		status: {conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "True"}]}}`, value))
}

func adopting(n int64, objects ...*unstructured.Unstructured) revision.Options {
	o := options(n, objects...)
	o.CollisionProtection = olmv1.CollisionProtectionIfNoController
	return o
}

// TestAdoptionIsOffered: what is there without an owner is refused with the number of custom resources and how to have it; with leave it is adopted.
func TestAdoptionIsOffered(t *testing.T) {
	ext := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "ext", UID: "ext-uid"}, Spec: olmv1.ClusterExtensionSpec{Namespace: "ns",
		Source: olmv1.SourceConfig{Catalog: &olmv1.CatalogFilter{PackageName: "pkg"}}}}
	w := newWorld(t, existing(t, "theirs"), configMap(t, "config", "theirs"), ext)
	w.count = 3
	before := w.definition()
	w.revise(options(1, existing(t, "ours"), configMap(t, "config", "ours")))
	_, err := w.pass("ext-1")
	must.NoError(t, err)
	const offer = "to adopt what exists and has no owner, which overwrites the fields that the bundle sets, keeps custom resources, and deletes the rest with the ClusterExtension: fairlead install pkg --api v1 --name ext --namespace ns --adopt, which sets annotation " +
		"operators.fairlead.dev/adopt-existing: \"true\" of ClusterExtension ext"
	w.expect("ext-1", "Progressing=True/Retrying: revision object collisions in phase configuration: ConfigMap ns/config is wanted by ClusterObjectSet ext-1 "+
		"but exists already, and nothing controls it\nrevision object collisions in phase crds: CustomResourceDefinition things.example.com is wanted by ClusterObjectSet ext-1 "+
		"but exists already, and nothing controls it, and it has 3 custom resources; "+offer)
	must.Contain(t, "the verdict", w.condition("ext-1", "Stalled"), "ObjectCollision: revision object collisions")
	if got := w.condition("ext-1", "Progressing"); strings.Count(got, offer) != 1 || strings.Contains(got, "remove or rename") {
		t.Errorf("the advice does harm: %s", got)
	}

	w.revise(adopting(2, existing(t, "ours"), configMap(t, "config", "ours")))
	w.settle()
	w.expect("ext-2", "Progressing=True/Succeeded")
	after := w.definition()
	if after.GetUID() != before.GetUID() || !after.GetCreationTimestamp().Time.Equal(before.GetCreationTimestamp().Time) || after.Labels["key"] != "ours" ||
		metav1.GetControllerOf(after) == nil || metav1.GetControllerOf(after).Name != "ext-2" {
		t.Errorf("it is not adopted as it was: %v", after.ObjectMeta)
	}
}

// TestAdoptionKilledAtEveryWrite: a manager that is stopped anywhere leaves nothing that the next one does not finish, and nothing is ever deleted.
func TestAdoptionKilledAtEveryWrite(t *testing.T) {
	begin := func() *world {
		w := newWorld(t, existing(t, "theirs"), configMap(t, "config", "theirs"))
		w.count = 3
		w.revise(options(1, existing(t, "ours"), configMap(t, "config", "ours"), service(t, "web")))
		w.settle()
		return w
	}
	step := func(w *world) error {
		return w.try(adopting(2, existing(t, "ours"), configMap(t, "config", "ours"), service(t, "web")))
	}
	whole := begin()
	must.NoError(t, step(whole))
	whole.settle()
	want := whole.state()
	whole.expect("ext-2", "Progressing=True/Succeeded")
	for at, reached := 1, true; reached; at += sweep.Of(2, 1, 1) {
		w := begin()
		uid := w.definition().GetUID()
		w.KillAt(at, at%2 == 0)
		if err := step(w); err != nil {
			w.restart()
			must.NoErrorf(t, step(w), "killed at write %d: it cannot be finished", at)
		}
		w.settleOrDie()
		if diff := cmp.Diff(want, w.state()); diff != "" {
			t.Fatalf("killed at write %d: %s", at, diff)
		}
		must.Equal(t, "the definition is the same object", w.definition().GetUID(), uid)
		for _, write := range w.Writes() {
			if strings.HasPrefix(write, "delete") && strings.Contains(write, "things") {
				t.Errorf("killed at write %d: %s", at, write)
			}
		}
		reached = w.Killed()
	}
}

// TestWhatWasKeptIsAdoptedOnce: what says for whom a definition was kept goes when it is adopted.
func TestWhatWasKeptIsAdoptedOnce(t *testing.T) {
	kept := existing(t, "theirs")
	kept.SetAnnotations(map[string]string{revision.KeptKey: revision.KeptOf("ext", "before"), "team": "kites"})
	w := newWorld(t, kept)
	w.Before = func(write string) error {
		if write == "patch CustomResourceDefinition things.example.com" {
			return apierrors.NewInternalError(errors.New("etcd is away"))
		}
		return nil
	}
	w.revise(options(1, existing(t, "ours")))
	_, err := w.pass("ext-1")
	must.Fail(t, "a pass that cannot remove the annotation", err, "change the metadata of CustomResourceDefinition things.example.com: Internal error occurred: etcd is away")
	w.Before = nil
	w.settle()
	w.expect("ext-1", "Progressing=True/Succeeded")
	after := w.definition()
	if _, there := after.Annotations[revision.KeptKey]; there || after.Annotations["team"] != "kites" || metav1.GetControllerOf(after) == nil {
		t.Errorf("%+v", after.ObjectMeta)
	}
}

// TestRemediesNameTheirObjects: where collisions need different things to be done, each says for what.
func TestRemediesNameTheirObjects(t *testing.T) {
	other := configMap(t, "b", "theirs")
	other.SetLabels(map[string]string{"app.kubernetes.io/managed-by": "Helm"})
	other.SetAnnotations(map[string]string{"meta.helm.sh/release-name": "r", "meta.helm.sh/release-namespace": "n"})
	w := newWorld(t, configMap(t, "a", "theirs"), other, configMap(t, "c", "theirs"))
	w.revise(options(1, configMap(t, "a", ""), configMap(t, "b", ""), configMap(t, "c", "")))
	_, err := w.pass("ext-1")
	must.NoError(t, err)
	must.Contain(t, "the condition", w.condition("ext-1", "Progressing"), "; of ConfigMap ns/a, ConfigMap ns/c: to adopt what exists", "\nof ConfigMap ns/b: to let Helm give it up")
}

// TestAnOwnerThatCannotBeReadIsNoCollision: what is not known is tried again, and needs no user.
func TestAnOwnerThatCannotBeReadIsNoCollision(t *testing.T) {
	w := newWorld(t, existing(t, "theirs"))
	away := errors.New("etcd is away")
	w.controller.live = interceptor.NewClient(w.Server, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		if _, is := list.(*v1alpha1.ClusterServiceVersionList); is && away != nil {
			return away
		}
		return c.List(ctx, list, options...)
	}})
	w.revise(adopting(1, existing(t, "ours")))
	_, err := w.pass("ext-1")
	must.Fail(t, "the pass, which is tried again,", err, "etcd is away")
	must.Contain(t, "progress", w.condition("ext-1", "Progressing"), "True/Retrying: find out whether CustomResourceDefinition things.example.com has an owner", "etcd is away")
	must.Contain(t, "the verdict", w.condition("ext-1", "Ready"), "False/Retrying")
	if got := w.condition("ext-1", "Stalled"); strings.Contains(got, "True") {
		t.Errorf("a user has to change something: %s", got)
	}
	if metav1.GetControllerOf(w.definition()) != nil {
		t.Error("it is adopted unread")
	}
	away = nil
	w.settle()
	w.expect("ext-1", "Progressing=True/Succeeded")
}
