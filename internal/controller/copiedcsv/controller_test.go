package copiedcsv

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// TestACopy has the documented shape.
func TestACopy(t *testing.T) {
	k := newCluster(t, append(namespaces(ns, "a", "b", "c"), group("a", "b", "missing", ns), operator("op.v1"))...)
	k.settle()
	if got := k.where("op.v1"); got != "a b" {
		t.Fatalf("copies are in %q, want the target namespaces that exist", got)
	}
	got := k.server.objects[types.NamespacedName{Namespace: "a", Name: "op.v1"}]
	want := operator("op.v1")
	must.Equal(t, "the spec differs from that of the source", got.Spec, want.Spec)
	must.Equal(t, "labels", got.Labels, map[string]string{"app": "x", "olm.api.1": "provided", "olm.copiedFrom": ns})
	mark := got.Annotations[markAnnotation]
	if diff := cmp.Diff(map[string]string{"olm.operatorNamespace": ns, "olm.operatorGroup": "group", "alm-examples": "[]", markAnnotation: mark}, got.Annotations); diff != "" || !strings.Contains(mark, ".") {
		t.Errorf("annotations:\n%s", diff)
	}
	want.Status.Reason, want.Status.Message = "Copied", "The operator is running in operators but is managing this namespace"
	must.Equal(t, "status", got.Status, want.Status)
	must.Empty(t, "owners of the copy", got.OwnerReferences)
	must.Empty(t, "finalizers of the copy", got.Finalizers)
	must.Equal(t, "writes", k.server.writes, []string{"create a/op.v1", "status a/op.v1", "create b/op.v1", "status b/op.v1"})
	k.quiet()
	k.restart()
	k.quiet()
}

// TestOnlyWhatChangedIsWritten: of a change of the source.
func TestOnlyWhatChangedIsWritten(t *testing.T) {
	tests := map[string]struct {
		how  func(*v1alpha1.ClusterServiceVersion)
		want []string
	}{
		"spec":       {func(c *v1alpha1.ClusterServiceVersion) { c.Spec.DisplayName = "new" }, []string{"replace a/op.v1"}},
		"label":      {func(c *v1alpha1.ClusterServiceVersion) { c.Labels["app"] = "y" }, []string{"replace a/op.v1"}},
		"annotation": {func(c *v1alpha1.ClusterServiceVersion) { delete(c.Annotations, "alm-examples") }, []string{"replace a/op.v1"}},
		// The mark tells of the status too.
		"status":      {func(c *v1alpha1.ClusterServiceVersion) { c.Status.Phase = "Failed" }, []string{"status a/op.v1", "replace a/op.v1"}},
		"own message": {func(c *v1alpha1.ClusterServiceVersion) { c.Status.Message = "new" }, nil},
		"own label":   {func(c *v1alpha1.ClusterServiceVersion) { c.Labels["operators.coreos.com/x.y"] = "" }, nil},
		"targets":     {func(c *v1alpha1.ClusterServiceVersion) { c.Annotations["olm.targetNamespaces"] = "z" }, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := newCluster(t, append(namespaces(ns, "a"), group("a"), operator("op.v1"))...)
			k.settle()
			change(k, &v1alpha1.ClusterServiceVersion{}, ns, "op.v1", test.how)
			k.server.writes = nil
			k.settle()
			must.Equal(t, "writes", k.server.writes, test.want)
			source := &v1alpha1.ClusterServiceVersion{}
			must.NoError(t, k.client.Get(t.Context(), types.NamespacedName{Namespace: ns, Name: "op.v1"}, source))
			copied := k.server.objects[types.NamespacedName{Namespace: "a", Name: "op.v1"}]
			if copied.Spec.DisplayName != source.Spec.DisplayName || copied.Status.Phase != source.Status.Phase || copied.Labels["app"] != source.Labels["app"] {
				t.Errorf("the copy is %+v", copied)
			}
			k.quiet()
		})
	}
}

// TestEditsAreUndone, whether the manager runs or was away meanwhile.
func TestEditsAreUndone(t *testing.T) {
	tests := map[string]struct {
		sub string
		how func(*v1alpha1.ClusterServiceVersion)
	}{
		"spec":             {"", func(c *v1alpha1.ClusterServiceVersion) { c.Spec.DisplayName = "hacked" }},
		"label":            {"", func(c *v1alpha1.ClusterServiceVersion) { c.Labels["more"] = "x" }},
		"lost label":       {"", func(c *v1alpha1.ClusterServiceVersion) { delete(c.Labels, "app") }},
		"annotation":       {"", func(c *v1alpha1.ClusterServiceVersion) { c.Annotations["olm.operatorNamespace"] = "nowhere" }},
		"target namespace": {"", func(c *v1alpha1.ClusterServiceVersion) { c.Annotations["olm.targetNamespaces"] = "leak" }},
		"lost mark":        {"", func(c *v1alpha1.ClusterServiceVersion) { delete(c.Annotations, markAnnotation) }},
		"status":           {"status", func(c *v1alpha1.ClusterServiceVersion) { c.Status.Phase = "Failed" }},
	}
	for name, test := range tests {
		for _, restarted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, restarted %t", name, restarted), func(t *testing.T) {
				k := newCluster(t, append(namespaces(ns, "a"), group("a"), operator("op.v1"))...)
				k.settle()
				key := types.NamespacedName{Namespace: "a", Name: "op.v1"}
				want := k.server.objects[key].DeepCopy()
				k.server.edit("a", "op.v1", "kubectl", test.sub, test.how)
				if restarted {
					k.restart()
				}
				k.settle()
				got := k.server.objects[key]
				if mark, generation := readMark(got.Annotations[markAnnotation]); generation != fmt.Sprint(got.Generation) || mark == "" {
					t.Errorf("mark %s of generation %d", got.Annotations[markAnnotation], got.Generation)
				}
				want.Annotations[markAnnotation] = got.Annotations[markAnnotation]
				want.ResourceVersion, want.ManagedFields, want.Generation = got.ResourceVersion, got.ManagedFields, got.Generation
				must.Equal(t, "copy after an edit", got, want)
				k.quiet()
			})
		}
	}
}

// TestWhatIsTakenAwayComesBack: who only removes fields owns none, so that the API server does not tell of it.
func TestWhatIsTakenAwayComesBack(t *testing.T) {
	for name, how := range map[string]func(*v1alpha1.ClusterServiceVersion){
		"of the spec":   func(c *v1alpha1.ClusterServiceVersion) { c.Spec.DisplayName = "" },
		"of the status": func(c *v1alpha1.ClusterServiceVersion) { c.Status.Message = "" },
	} {
		for _, restarted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, restarted %t", name, restarted), func(t *testing.T) {
				k := newCluster(t, append(namespaces(ns, "a", "b"), group("a", "b"), operator("op.v1"))...)
				k.settle()
				// What a user does to a copy who only takes away, and so owns nothing of it.
				s := k.server
				o := s.objects[types.NamespacedName{Namespace: "a", Name: "op.v1"}]
				before := o.DeepCopy()
				how(o)
				s.grow(before, o)
				s.version++
				o.ResourceVersion = strconv.Itoa(s.version)
				for i := range o.ManagedFields {
					if e := &o.ManagedFields[i]; e.Subresource == "status" {
						e.FieldsV1 = owning(o)
					}
				}
				if restarted {
					k.restart()
				}
				k.server.writes = nil
				k.settle()
				if got := k.copies(); got["a/op.v1"].Spec.DisplayName == "" || got["a/op.v1"].Status.Message == "" {
					t.Errorf("it stays away: %+v", got["a/op.v1"])
				}
				for _, write := range k.server.writes {
					must.Lack(t, "writes of the other copy", write, "b/")
				}
				k.quiet()
				k.restart()
				k.quiet()
			})
		}
	}
}

// TestKilledBetweenTheWrites of a copy: the next start finishes it.
func TestKilledBetweenTheWrites(t *testing.T) {
	for _, prefix := range []string{"create", "status", "replace"} {
		t.Run(prefix, func(t *testing.T) {
			k := newCluster(t, append(namespaces(ns, "a"), group("a"), operator("op.v1"))...)
			if prefix == "replace" {
				k.settle()
				change(k, &v1alpha1.ClusterServiceVersion{}, ns, "op.v1", func(c *v1alpha1.ClusterServiceVersion) {
					c.Status.Phase, c.Spec.DisplayName = "Failed", "new"
				})
			}
			k.server.fail = func(write string) error {
				if strings.HasPrefix(write, prefix) {
					return errors.New("killed")
				}
				return nil
			}
			if err := k.try("a", "op.v1"); err == nil || !strings.Contains(err.Error(), "op.v1") || !strings.Contains(err.Error(), "killed") {
				t.Errorf("error %v", err)
			}
			k.server.fail = nil
			k.restart()
			k.settle()
			source := &v1alpha1.ClusterServiceVersion{}
			must.NoError(t, k.client.Get(t.Context(), types.NamespacedName{Namespace: ns, Name: "op.v1"}, source))
			got := k.server.objects[types.NamespacedName{Namespace: "a", Name: "op.v1"}]
			if got.Status.Reason != "Copied" || got.Status.Phase != source.Status.Phase || got.Spec.DisplayName != source.Spec.DisplayName {
				t.Errorf("the copy is %+v", got)
			}
			k.quiet()
		})
	}
}

// TestRacesAreQuiet: what an event follows is no error.
func TestRacesAreQuiet(t *testing.T) {
	for name, err := range map[string]error{
		"conflict":   apierrors.NewConflict(csvs, "op.v1", errors.New("changed")),
		"gone":       apierrors.NewNotFound(csvs, "op.v1"),
		"namespace":  &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonForbidden, Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}}}},
		"not a race": apierrors.NewForbidden(schema.GroupResource{}, "op.v1", errors.New("no")),
	} {
		t.Run(name, func(t *testing.T) {
			k := newCluster(t, append(namespaces(ns, "a"), group("a"), operator("op.v1"))...)
			k.server.fail = func(string) error { return err }
			must.Equal(t, "error", k.try("a", "op.v1") != nil, name == "not a race")
		})
	}
}

// TestWhatIsNoCopyStays, though it has the name of one, and the copy comes once it is gone.
func TestWhatIsNoCopyStays(t *testing.T) {
	own := operator("op.v1")
	own.Namespace, own.Annotations, own.Spec.DisplayName = "a", nil, "mine"
	k := newCluster(t, append(namespaces(ns, "a"), group("a"), operator("op.v1"), own)...)
	k.settle()
	if k.server.writes != nil {
		t.Errorf("writes: %v", k.server.writes)
	}
	must.NoError(t, k.client.Delete(t.Context(), own))
	// The cluster has one that the caches do not show yet.
	unseen := own.DeepCopy()
	k.server.objects[types.NamespacedName{Namespace: "a", Name: "op.v1"}] = unseen
	k.pass("a", "op.v1")
	must.Equal(t, "display name", unseen.Spec.DisplayName, "mine")
	delete(k.server.objects, types.NamespacedName{Namespace: "a", Name: "op.v1"})
	k.settle()
	must.Equal(t, "copies are in", k.where("op.v1"), "a")
}

// TestACopyWithoutItsLabel gets it back, or goes.
func TestACopyWithoutItsLabel(t *testing.T) {
	for _, targeted := range []bool{true, false} {
		k := newCluster(t, append(namespaces(ns, "a"), group("a"), operator("op.v1"))...)
		k.settle()
		k.server.edit("a", "op.v1", "kubectl", "", func(c *v1alpha1.ClusterServiceVersion) { delete(c.Labels, "olm.copiedFrom") })
		unlabelled := k.server.objects[types.NamespacedName{Namespace: "a", Name: "op.v1"}].DeepCopy()
		unlabelled.ResourceVersion, unlabelled.ManagedFields = "", nil
		k.create(unlabelled)
		if !targeted {
			change(k, &v1.OperatorGroup{}, ns, "group", func(g *v1.OperatorGroup) { g.Status.Namespaces = []string{"b"} })
		}
		for _, r := range k.c.copiesOf(t.Context(), unlabelled) {
			// The fake client counts versions of its own; here both are to have the same one.
			live := k.server.objects[r.NamespacedName]
			cached := &v1alpha1.ClusterServiceVersion{}
			must.NoError(t, k.client.Get(t.Context(), r.NamespacedName, cached))
			live.ResourceVersion = cached.ResourceVersion
			k.c.written.Delete(r.NamespacedName)
			k.pass(r.Namespace, r.Name)
		}
		got := k.server.objects[types.NamespacedName{Namespace: "a", Name: "op.v1"}]
		if targeted && (got == nil || got.Labels["olm.copiedFrom"] != ns) || !targeted && got != nil {
			t.Errorf("targeted %t: the copy is %+v", targeted, got)
		}
	}
}

// TestTwoSources have the same name and target: the older one is copied, whatever order they came in.
func TestTwoSources(t *testing.T) {
	second := operator("op.v1")
	second.Namespace, second.Spec.DisplayName = "another", "second"
	other := group("a")
	other.Namespace = "another"
	second.Annotations["olm.operatorNamespace"] = "another"
	k := newCluster(t, append(namespaces(ns, "a", "another"), group("a"), operator("op.v1"), other, second)...)
	k.settle()
	key := types.NamespacedName{Namespace: "a", Name: "op.v1"}
	must.Equal(t, "source, the first by name of two of the same age", k.server.objects[key].Labels["olm.copiedFrom"], "another")
	k.quiet()
	must.NoError(t, k.client.Delete(t.Context(), second))
	k.settle()
	must.Equal(t, "source once the other is gone", k.server.objects[key].Labels["olm.copiedFrom"], ns)
}

// TestLimitedManagers leave the copies from other namespaces alone.
func TestLimitedManagers(t *testing.T) {
	foreign := operator("op.v1")
	foreign.Namespace, foreign.Labels = "x", map[string]string{"olm.copiedFrom": "theirs"}
	k := newCluster(t, append(namespaces(ns, "a", "x"), group("a"), operator("op.v1"))...)
	k.server.objects[types.NamespacedName{Namespace: "x", Name: "op.v1"}] = foreign
	k.c.limits.namespaces = []string{ns}
	k.settle()
	must.Equal(t, "copies are in", k.where("op.v1"), "a x")
	k.c.limits.namespaces = []string{"else"}
	k.settle()
	must.Equal(t, "copies are in after the manager was limited to others", k.where("op.v1"), "a x")
}

// FuzzContent makes requests of odd ClusterServiceVersions: what is sent can be read and is what was meant.
func FuzzContent(f *testing.F) {
	f.Add("op.v1", "operators", "label", "value", "a \"display\" name </script> \xff", "Succeeded", "7")
	f.Fuzz(func(t *testing.T, name, namespace, key, value, display, phase, version string) {
		csv := operator("op.v1")
		csv.Name, csv.Namespace, csv.Labels[key], csv.Annotations[key], csv.Spec.DisplayName = name, namespace, value, value, display
		csv.Status.Phase = v1alpha1.ClusterServiceVersionPhase(phase)
		c := must.Value(newContent(csv))(t)
		for part, body := range map[string][]byte{"made": c.request("", 1, "spec"), "replaced": c.request("12", 1, "spec"), "status": c.request("12", 0, "status")} {
			var o v1alpha1.ClusterServiceVersion
			if err := json.Unmarshal(body, &o); err != nil {
				t.Fatalf("%s: %v: %s", part, err, body)
			}
			if o.Labels["olm.copiedFrom"] != string([]rune(namespace)) || o.Namespace != "" || (o.ResourceVersion != "") != (part != "made") {
				t.Errorf("%s: metadata %+v", part, o.ObjectMeta)
			}
		}
	})
}
