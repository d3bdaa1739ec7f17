package grpccatalog

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestACatalogComesUp(t *testing.T) {
	c := newCluster(t, "operators")
	c.source.Annotations = map[string]string{"team": "a"}
	first := c.ensure()
	if len(first.Changes) != 5 || first.Ready || !strings.Contains(first.Waiting, "is being started") {
		t.Errorf("the first run: ready %t, waiting for %q, %q", first.Ready, first.Waiting, first.Changes)
	}
	out := c.settled()
	p := &corev1.Pod{}
	c.get(p, out.Serving.Name)
	if p.GenerateName != "operators-" || !strings.HasPrefix(p.Name, "operators-") || p.Annotations["team"] != "a" {
		t.Errorf("pod %s of %q with annotations %v", p.Name, p.GenerateName, p.Annotations)
	}
	want := &v1alpha1.RegistryServiceStatus{Protocol: "grpc", ServiceName: "operators", ServiceNamespace: c.source.Namespace, Port: "50051", CreatedAt: p.CreationTimestamp}
	must.Equal(t, "result", out.Service, want)
	before := c.reads.Load()
	c.quiet()
	if n := c.reads.Load() - before; n > 7 { // each companion, the account once more, the pods, the namespace
		t.Errorf("to find everything as wanted took %d reads", n)
	}
	c.source.Annotations["team"] = "b"
	if out := c.ensure(); len(out.Changes) != 1 || out.Serving.Name != p.Name {
		t.Errorf("an annotation was changed: %q", out.Changes)
	}
	c.get(p, p.Name)
	must.Equal(t, "annotations", p.Annotations["team"], "b")
	c.quiet()
}

// TestTheAPIServerAcceptsEverything brings the catalogs of all archives up.
func TestTheAPIServerAcceptsEverything(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal(err)
	}
	for _, file := range archives {
		archive := must.Value(txtar.ParseFile(file))(t)
		source, in, _ := readInput(t, archive)
		if slices.ContainsFunc(archive.Files, func(f txtar.File) bool { return f.Name == "error.txt" }) {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, source.Name)
			c.source.Spec, c.source.Annotations, c.Keeper.Settings = source.Spec, source.Annotations, in.Settings
			c.t.Helper()
			for _, name := range []string{"high", "low"} {
				err := c.Create(c.t.Context(), &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: 1000})
				must.NoError(c.t, client.IgnoreAlreadyExists(err))
			}
			if out := c.ensure(); out.Serving == nil || out.Serving.UID == "" {
				t.Fatalf("no pod: %q", out.Changes)
			}
			p := c.livePods()[0]
			if p.Labels[v1alpha1.CatalogSourceLabel] != LabelValue(source.Name) || !IsCurrent(&p, &p) {
				t.Errorf("labels %v", p.Labels)
			}
			if out := c.ensure(); slices.ContainsFunc(out.Actions, func(a Action) bool { return a.Verb == Create }) {
				t.Errorf("the pod that was made is not as wanted: %q", out.Changes)
			}
		})
	}
}

// TestDriftIsHealed deletes and changes every object.
func TestDriftIsHealed(t *testing.T) {
	c := newCluster(t, "operators")
	c.source.Spec.Secrets = []string{"pull"}
	c.settled()
	c.quiet()
	changes := map[string]func(client.Object){
		"labels": func(o client.Object) { o.SetLabels(nil) },
		"owners": func(o client.Object) {
			references := o.GetOwnerReferences()
			references[0].Controller = nil
			o.SetOwnerReferences(references)
		},
		"content": func(o client.Object) {
			switch o := o.(type) {
			case *corev1.ServiceAccount:
				o.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "of-others"}}
			case *networkingv1.NetworkPolicy:
				o.Spec.Egress, o.Spec.PodSelector.MatchLabels = nil, map[string]string{"a": "b"}
			case *corev1.Service:
				o.Spec.Ports[0].TargetPort = intstr.FromInt32(1)
				o.Spec.Selector = map[string]string{"a": "b"}
			}
		},
	}
	wanted := must.Value(Companions(c.source, c.Settings))(t)
	for _, o := range wanted.companions() {
		kind := fmt.Sprintf("%T %s", o, o.GetName())
		for what, change := range changes {
			t.Run(kind+": "+what, func(t *testing.T) {
				c.t = t
				live := o.DeepCopyObject().(client.Object)
				c.get(live, o.GetName())
				change(live)
				must.NoError(t, c.Client.Update(t.Context(), live, client.FieldOwner("somebody")))
				if out := c.ensure(); !slices.ContainsFunc(out.Changes, func(s string) bool { return strings.Contains(s, o.GetName()) }) {
					t.Errorf("nothing was done about it: %q", out.Changes)
				}
				c.get(live, o.GetName())
				must.Equal(t, "compare", compare(o, live), "")
				c.settled() // another pull secret leads to another pod
				c.quiet()
			})
		}
		t.Run(kind+": deleted", func(t *testing.T) {
			c.t = t
			must.NoError(t, c.Client.Delete(t.Context(), o.DeepCopyObject().(client.Object)))
			c.settled()
			live := o.DeepCopyObject().(client.Object)
			c.get(live, o.GetName())
			must.Equal(t, "compare", compare(o, live), "")
			c.quiet()
		})
	}
}

// compare tells what of a wanted object is missing in the live one.
func compare(wanted, live client.Object) string {
	if len(missing(wanted.GetLabels(), live.GetLabels())) > 0 || metav1.GetControllerOfNoCopy(live) == nil {
		return fmt.Sprintf("labels %v, owners %v", live.GetLabels(), live.GetOwnerReferences())
	}
	switch wanted := wanted.(type) {
	case *corev1.ServiceAccount:
		if !slices.Contains(live.(*corev1.ServiceAccount).ImagePullSecrets, corev1.LocalObjectReference{Name: "pull"}) {
			return fmt.Sprintf("pull secrets %v", live.(*corev1.ServiceAccount).ImagePullSecrets)
		}
	case *networkingv1.NetworkPolicy:
		return cmp.Diff(wanted.Spec, live.(*networkingv1.NetworkPolicy).Spec)
	case *corev1.Service:
		return cmp.Diff(wanted.Spec.Selector, live.(*corev1.Service).Spec.Selector) + cmp.Diff(wanted.Spec.Ports, live.(*corev1.Service).Spec.Ports)
	}
	return ""
}

// TestAddedEgressIsTakenAway: what is not wanted at all is not among the fields that an apply would own.
func TestAddedEgressIsTakenAway(t *testing.T) {
	c := newCluster(t, "operators")
	c.settled()
	policy := &networkingv1.NetworkPolicy{}
	c.get(policy, "operators-grpc-server")
	policy.Spec.Egress = anywhere()
	must.NoError(t, c.Client.Update(t.Context(), policy, client.FieldOwner("somebody")))
	if out := c.ensure(); len(out.Changes) != 1 || !strings.HasPrefix(out.Changes[0], "restored NetworkPolicy") {
		t.Errorf("changes %q", out.Changes)
	}
	restored := &networkingv1.NetworkPolicy{}
	c.get(restored, policy.Name)
	if restored.Spec.Egress != nil || len(restored.Spec.PolicyTypes) != 2 {
		t.Errorf("spec %+v", restored.Spec)
	}
	c.quiet()
}

func TestADeletedPodIsReplaced(t *testing.T) {
	c := newCluster(t, "operators")
	before := c.settled().Serving
	must.NoError(t, c.Client.Delete(t.Context(), before))
	after := c.settled()
	if after.Serving.UID == before.UID || len(c.livePods()) != 1 || after.Service.CreatedAt.Before(&before.CreationTimestamp) {
		t.Errorf("served by %s as before, or by several", after.Serving.Name)
	}
	c.quiet()
}

func TestAnEvictedPodIsReplaced(t *testing.T) {
	c := newCluster(t, "operators")
	c.unscheduled()
	before := c.ensure().Serving
	c.become(before.Name, failedPod, evicted)
	r := c.request()
	r.Now = time.Now()
	if out, err := c.Ensure(t.Context(), r); err != nil || len(out.Changes) > 0 || out.Again <= 0 || out.Again > youngDeath {
		t.Errorf("at once: %v, again in %s, %q", err, out.Again, out.Changes)
	}
	out := c.ensure()
	if len(out.Actions) != 2 || out.Serving.Name == before.Name {
		t.Errorf("changes %q", out.Changes)
	}
	if pods := c.livePods(); len(pods) != 1 || pods[0].Name != out.Serving.Name {
		t.Errorf("%d pods", len(pods))
	}
}

// TestOnlyThePodThatWasSeenIsDeleted, and not another one that has its name by now.
func TestOnlyThePodThatWasSeenIsDeleted(t *testing.T) {
	c := newCluster(t, "operators")
	c.unscheduled()
	p := c.ensure().Serving.DeepCopy()
	p.UID = "of-an-earlier-one"
	must.NoErrorf(t, c.deletePod(t.Context(), p, graceDead), "that it is gone already is no failure")
	must.Equal(t, "pods are left", len(c.livePods()), 1)
}
