package apply

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestLeft objects are kept by somebody who took the caller's place: they are not written, whoever claims them, but probed.
func TestLeft(t *testing.T) {
	c := newCluster(t)
	engine(c).Apply(t.Context(), []Phase{phase(configMap("a", "theirs"))})
	c.taken()
	missing := func(*unstructured.Unstructured) string { return "not there yet" }
	o := Object{Wanted: configMap("a", "ours"), Claim: NotOurs("us"), Leave: func(*unstructured.Unstructured) bool { return true }, Probe: missing}
	r := engine(c).Apply(t.Context(), []Phase{{Objects: []Object{o}}})
	if got := r.Phases[0].Objects[0]; got.Outcome != Left || got.Err != nil || got.Waiting == "" || got.Live == nil || len(c.taken()) != 0 {
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
		if err := c.Create(t.Context(), going); err != nil {
			t.Fatal(err)
		}
		if err := c.Delete(t.Context(), going); err != nil {
			t.Fatal(err)
		}
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
	c.fault = func(int, bool) error { return forbidden }
	err := engine(c).Apply(t.Context(), []Phase{phase(configMap("a", "1"))}).Err()
	var failed *RequestError
	if !errors.As(err, &failed) || failed.Verb != "create" || failed.Ref.Name != "a" || !apierrors.IsForbidden(failed) {
		t.Errorf("%v", err)
	}
}
