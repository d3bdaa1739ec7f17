package rollout

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/test/must"
)

func TestRender(t *testing.T) {
	got := must.Value(Render(&appsv1.Deployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "d"},
		Status: appsv1.DeploymentStatus{Replicas: 1}}))(t)
	want := map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"namespace": "ns", "name": "d"},
		"spec": map[string]any{"strategy": map[string]any{}, "template": map[string]any{"metadata": map[string]any{}, "spec": map[string]any{}}}}
	must.Equal(t, "a status, or a null, is left (-want +got", got.Object, want)
}

// TestAbsentObjects are created in one request; where one is there after all, it is judged as if it had been read.
func TestAbsentObjects(t *testing.T) {
	c := newCluster(t, configMap("theirs", "kept"))
	p := phase(configMap("new", "x"), configMap("theirs", "x"))
	p.Independent = true
	for i := range p.Objects {
		p.Objects[i].Absent = true
		p.Objects[i].Claim = func(live *unstructured.Unstructured) string { return "is of another owner" }
	}
	r := engine(c).Apply(t.Context(), []Phase{p, phase(configMap("later", "x"))})
	if got := outcomes(r); !slices.Equal(got, []Outcome{Created, NotAttempted, Created}) || r.Err() == nil {
		t.Errorf("outcomes %v, error %v", got, r.Err())
	}
	if live := c.get(t, "ConfigMap", "ns", "theirs"); live.Object["data"].(map[string]any)["key"] != "kept" {
		t.Errorf("it was written over: %v", live.Object)
	}
}

// TestRemovedObjects: the object that was read goes, and none that has its name since.
func TestRemovedObjects(t *testing.T) {
	there := configMap("there", "x")
	there.SetUID("a")
	c := newCluster(t, there)
	remove := func(name string, uid types.UID) Object {
		u := configMap(name, "x")
		u.SetUID(uid)
		return Object{Wanted: u, Policy: Remove}
	}
	r := engine(c).Apply(t.Context(), []Phase{{Objects: []Object{remove("there", "a"), remove("gone", "b")}}})
	if got := outcomes(r); !slices.Equal(got, []Outcome{Deleted, Deleted}) || r.Err() != nil {
		t.Errorf("outcomes %v, error %v", got, r.Err())
	}
}

// TestDisplacedObjects are deleted before the desired one is created.
func TestDisplacedObjects(t *testing.T) {
	c := newCluster(t, configMap("a", "old"))
	p := phase(configMap("a", "new"))
	p.Objects[0].Displaces = func(live *unstructured.Unstructured) bool {
		return live.Object["data"].(map[string]any)["key"] == "old"
	}
	for _, want := range []Outcome{Created, Unchanged} {
		must.Equal(t, "outcome", outcomes(engine(c).Apply(t.Context(), []Phase{p}))[0], want)
	}
	must.Equal(t, "writes", c.Taken(), []string{"delete ConfigMap a", "create ConfigMap a"})
}

// TestDrifted: what another client changes is drift; what it adds, or an admission webhook makes of a value, is none.
func TestDrifted(t *testing.T) {
	c := newCluster(t)
	desired := configMap("a", "x")
	engine(c).Apply(t.Context(), []Phase{phase(desired)})
	for _, step := range []struct {
		key, value string
		drifted    bool
	}{{"other", "y", false}, {"key", "z", true}} {
		live := c.get(t, "ConfigMap", "ns", "a")
		must.NoError(t, unstructured.SetNestedField(live.Object, step.value, "data", step.key))
		must.NoError(t, c.Update(t.Context(), live))
		if got := Drifted(desired, c.get(t, "ConfigMap", "ns", "a"), manager); got != step.drifted {
			t.Errorf("drift after %s is changed: %t", step.key, got)
		}
	}
	if !Drifted(configMap("a", "otherwise rendered"), c.get(t, "ConfigMap", "ns", "a"), manager) {
		t.Error("another rendering is no drift")
	}
}
