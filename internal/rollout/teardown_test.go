package rollout

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/test/must"
)

func TestTeardown(t *testing.T) {
	held := configMap("held", "1")
	held.SetFinalizers([]string{"example.com/hold"})
	foreign := configMap("foreign", "1")
	foreign.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "x", UID: "x", Controller: new(true)}})
	c := newCluster(t, held, foreign, configMap("first", "1"))
	phases := []Phase{phase(configMap("first", "1"), configMap("absent", "1")), phase(configMap("held", "1"), configMap("foreign", "1"))}
	phases[1].Objects[1].Claim = ControlledByOthers("mine")

	steps := []struct {
		name     string
		prepare  func()
		want     []Outcome
		waiting  []string
		deletes  []string
		complete bool
	}{
		{"the last phase is held up", func() {}, []Outcome{NotAttempted, NotAttempted, Deleted, Kept},
			[]string{"ConfigMap ns/held is being deleted, which waits for [example.com/hold]"}, []string{"delete ConfigMap held"}, false},
		{"nothing is asked for twice", func() {}, []Outcome{NotAttempted, NotAttempted, Deleted, Kept},
			[]string{"ConfigMap ns/held is being deleted, which waits for [example.com/hold]"}, nil, false},
		{"the finalizer is gone", func() {
			u := c.get(t, "ConfigMap", "ns", "held")
			u.SetFinalizers(nil)
			must.NoError(t, c.Update(t.Context(), u))
		}, []Outcome{Gone, Gone, Gone, Kept}, nil, []string{"delete ConfigMap first"}, true},
	}
	for _, s := range steps {
		s.prepare()
		c.Taken()
		r := engine(c).Teardown(t.Context(), phases)
		if diff := cmp.Diff(s.want, outcomes(r)); diff != "" {
			t.Errorf("%s: %s\n%v", s.name, diff, r.Err())
		}
		if diff := cmp.Diff(s.waiting, r.Waiting()); diff != "" {
			t.Errorf("%s: %s", s.name, diff)
		}
		if diff := cmp.Diff(s.deletes, c.Taken()); diff != "" {
			t.Errorf("%s: %s", s.name, diff)
		}
		if r.Complete() != s.complete {
			t.Errorf("%s: complete = %t", s.name, r.Complete())
		}
	}
}

func TestTeardownStopsAtAFailure(t *testing.T) {
	c := newCluster(t, configMap("a", "1"), configMap("b", "1"))
	c.Before = func(string) error { return errors.New("refused") }
	phases := []Phase{phase(configMap("a", "1")), phase(configMap("b", "1"))}
	r := engine(c).Teardown(t.Context(), phases)
	must.Equal(t, "outcomes", outcomes(r), []Outcome{NotAttempted, Failed})
	if want := "delete ConfigMap ns/b: refused"; r.Err() == nil || r.Err().Error() != want {
		t.Errorf("error %v, want %s", r.Err(), want)
	}
	c.Before = nil
	if r := engine(c).Teardown(t.Context(), phases); !r.Complete() {
		t.Errorf("not finished: %v", r.Err())
	}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "a"}, configMap("a", "")); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the object is still there: %v", err)
	}
}
