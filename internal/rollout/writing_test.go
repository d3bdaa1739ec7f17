package rollout

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/test/must"
)

func secret(data map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{"namespace": "ns", "name": "key"}, "stringData": data}}
}

// TestEnsureOverwritesNothingThatSeemedMissing: another client makes the object between the look and the write.
func TestEnsureOverwritesNothingThatSeemedMissing(t *testing.T) {
	c := newCluster(t)
	theirs := secret(map[string]any{"key": "theirs"})
	must.NoError(t, c.Create(t.Context(), theirs))
	if err := Ensure(t.Context(), c, secret(map[string]any{"key": "ours"}), true, manager); !apierrors.IsAlreadyExists(err) {
		t.Errorf("what was made in between is written over: %v", err)
	}
	live := secret(nil)
	must.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(live), live))
	if got, _, _ := unstructured.NestedString(live.Object, "stringData", "key"); got == "ours" {
		t.Errorf("the Secret holds %v", live.Object)
	}
}

// TestEnsureTakesBackWhatItCreated: a field of the create that is no longer desired goes with the first apply, and later ones are one request again.
func TestEnsureTakesBackWhatItCreated(t *testing.T) {
	c := newCluster(t)
	annotated := func(names ...string) *unstructured.Unstructured {
		s := secret(nil)
		annotations := map[string]string{}
		for _, n := range names {
			annotations[n] = "x"
		}
		s.SetAnnotations(annotations)
		return s
	}
	must.NoError(t, Ensure(t.Context(), c, annotated("stays", "goes"), true, manager))
	wanted := annotated("stays", "comes")
	must.NoError(t, Ensure(t.Context(), c, wanted, false, manager))
	if a := wanted.GetAnnotations(); a["stays"] == "" || a["comes"] == "" || a["goes"] != "" {
		t.Errorf("the annotations are %v", a)
	}
	c.Taken()
	must.NoError(t, Ensure(t.Context(), c, annotated("stays"), false, manager))
	must.Equal(t, "it takes the requests", c.Taken(), []string{"apply Secret key"})
}

// TestOvertakenByAnOwner has another client take the object after it was found free and before it is written, or make another one of
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
			must.NoError(t, c.WithWatch.Delete(t.Context(), old))
			fresh := configMap("a", "")
			taken(fresh)
			fresh.SetUID("another")
			must.NoError(t, c.WithWatch.Create(t.Context(), fresh))
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

// TestTeardownIsOvertaken has another client take the object after it was found ours: it is kept.
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

// TestLeft objects are kept by another client who took the caller's place: they are not written, whoever claims them, but probed.
func TestLeft(t *testing.T) {
	c := newCluster(t)
	engine(c).Apply(t.Context(), []Phase{phase(configMap("a", "theirs"))})
	c.Taken()
	missing := func(*unstructured.Unstructured) string { return "not there yet" }
	o := Object{Wanted: configMap("a", "ours"), Claim: NotOurs("us"), Leave: func(*unstructured.Unstructured) bool { return true }, Probe: missing}
	r := engine(c).Apply(t.Context(), []Phase{{Objects: []Object{o}}})
	if got := r.Phases[0].Objects[0]; got.Outcome != Left || got.Err != nil || got.Waiting == "" || got.Live == nil || len(c.Taken()) != 0 {
		t.Errorf("%+v", got)
	}
	o.Probe = nil
	if r := engine(c).Apply(t.Context(), []Phase{{Objects: []Object{o}}}); !r.Complete() {
		t.Error("an object that is left and works does not count as complete")
	}
}

// TestOptionalObjectOnItsWayOut does not keep others from being written.
func TestOptionalObjectOnItsWayOut(t *testing.T) {
	for optional, want := range map[bool]Outcome{false: NotAttempted, true: Created} {
		c := newCluster(t)
		going := configMap("a", "1")
		going.SetFinalizers([]string{"example.com/wait"})
		must.NoError(t, c.Create(t.Context(), going))
		must.NoError(t, c.Delete(t.Context(), going))
		p := phase(configMap("a", "1"), configMap("b", "1"))
		p.Objects[0].Optional = optional
		r := engine(c).Apply(t.Context(), []Phase{p})
		if got := outcomes(r); got[0] != NotAttempted || got[1] != want || r.Complete() {
			t.Errorf("optional: %t: %v", optional, got)
		}
	}
}

// TestFailedRequestsSayWhatWasAttempted, so that callers can tell which permission is missing.
func TestFailedRequestsSayWhatWasAttempted(t *testing.T) {
	c := newCluster(t)
	forbidden := apierrors.NewForbidden(kindResource, "a", errors.New("no"))
	c.Before = func(string) error { return forbidden }
	err := engine(c).Apply(t.Context(), []Phase{phase(configMap("a", "1"))}).Err()
	var failed *RequestError
	if !errors.As(err, &failed) || failed.Verb != "create" || failed.Ref.Name != "a" || !apierrors.IsForbidden(failed) {
		t.Errorf("%v", err)
	}
}
