package apply

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestOvertakenByAnOwner has somebody else take the object after it was found free and before it is written, or make another one of
// its name.
func TestOvertakenByAnOwner(t *testing.T) {
	taken := func(u *unstructured.Unstructured) {
		u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "theirs", UID: "x", Controller: new(true)}})
		_ = unstructured.SetNestedField(u.Object, "theirs", "data", "key")
	}
	tests := map[string]func(t *testing.T, c *cluster){
		"it was changed": func(t *testing.T, c *cluster) { edit(t, c, "ConfigMap", "a", taken) },
		"it was made anew": func(t *testing.T, c *cluster) {
			old := c.get(t, "ConfigMap", "ns", "a")
			if err := c.Update(t.Context(), old); err != nil { // so that no revision of the two is the same
				t.Fatal(err)
			}
			if err := c.WithWatch.Delete(t.Context(), old); err != nil {
				t.Fatal(err)
			}
			fresh := configMap("a", "")
			taken(fresh)
			fresh.SetUID("another")
			if err := c.WithWatch.Create(t.Context(), fresh); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, overtake := range tests {
		t.Run(name, func(t *testing.T) {
			free := configMap("a", "free")
			free.SetUID("free")
			c := newCluster(t, free)
			done := false
			p := Phase{Objects: []Object{{Wanted: configMap("a", "ours"), Claim: func(live *unstructured.Unstructured) string {
				text := ControlledByOthers()(live)
				if !done { // the engine has read it
					done = true
					overtake(t, c)
				}
				return text
			}}}}
			r := engine(c).Apply(t.Context(), []Phase{p})
			var collision *CollisionError
			if !errors.As(r.Err(), &collision) {
				t.Errorf("error %v, want that it belongs to somebody else", r.Err())
			}
			if got, _, _ := unstructured.NestedString(c.get(t, "ConfigMap", "ns", "a").Object, "data", "key"); got != "theirs" {
				t.Errorf("it holds %q: it was overwritten", got)
			}
		})
	}
}

// TestTeardownIsOvertaken has somebody else take the object after it was found ours: it is kept.
func TestTeardownIsOvertaken(t *testing.T) {
	c := newCluster(t, configMap("a", "ours"))
	done := false
	p := Phase{Objects: []Object{{Wanted: configMap("a", "ours"), Claim: func(live *unstructured.Unstructured) string {
		text := ControlledByOthers()(live)
		if !done {
			done = true
			edit(t, c, "ConfigMap", "a", func(u *unstructured.Unstructured) {
				u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "theirs", UID: "x", Controller: new(true)}})
			})
		}
		return text
	}}}}
	r := engine(c).Teardown(t.Context(), []Phase{p})
	if got := outcomes(r)[0]; got != Kept || r.Err() != nil {
		t.Errorf("%v %v, want that it is kept", got, r.Err())
	}
	c.get(t, "ConfigMap", "ns", "a")
}
