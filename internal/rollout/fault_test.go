package rollout

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/test/must"
)

var kindResource = schema.GroupResource{Resource: "configmaps"}

// TestKilledAtEveryWrite fails each write of a run in turn, once before and once after it took effect, and as if another client had
// been faster. Whatever happened, the next run finishes what the first began, and the cluster looks as if nothing had happened.
func TestKilledAtEveryWrite(t *testing.T) {
	phases := func(value string) []Phase {
		owned := func(name string) *unstructured.Unstructured {
			u := configMap(name, value)
			u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner"}})
			return u
		}
		shared := object(t, `{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: ns, name: sa}}`)
		return []Phase{
			{Objects: []Object{{Wanted: configMap("owner", "fixed"), Policy: CreateOnly}}},
			{Objects: []Object{{Wanted: owned("a")}, {Wanted: owned("b")}, {Wanted: shared, Adjust: Share}}},
		}
	}
	want := contents(t, func(c *cluster) {
		engine(c).Apply(t.Context(), phases("1"))
		engine(c).Apply(t.Context(), phases("2"))
	})
	killed := errors.New("connection refused")
	for _, fault := range []struct {
		name  string
		after bool
		err   error
	}{
		{"before the write", false, killed},
		{"after the write", true, killed},
		{"conflict", false, apierrors.NewConflict(kindResource, "x", errors.New("modified"))},
		{"created by another", true, apierrors.NewAlreadyExists(kindResource, "x")},
	} {
		for at, reached := 1, true; reached; at++ {
			t.Run(fmt.Sprintf("%s %d", fault.name, at), func(t *testing.T) {
				got := contents(t, func(c *cluster) {
					e := engine(c)
					e.Parallel = 1
					reached = false
					c.Fault(func(_ string, after bool) error {
						if c.Made() == at && after == fault.after {
							reached = true
							return fault.err
						}
						return nil
					})
					for _, value := range []string{"1", "2"} {
						if r := e.Apply(t.Context(), phases(value)); r.Err() != nil {
							if r := e.Apply(t.Context(), phases(value)); !r.Complete() {
								t.Fatalf("the next run did not finish: %v", r.Err())
							}
						}
					}
				})
				must.Equal(t, "result", got, want)
			})
		}
	}
}

// contents runs do on a new cluster and returns what is there afterwards, without what differs from run to run.
func contents(t *testing.T, do func(*cluster)) map[string]any {
	t.Helper()
	c := newCluster(t)
	do(c)
	out := map[string]any{}
	uids := map[string]string{}
	var maps corev1.ConfigMapList
	var accounts corev1.ServiceAccountList
	must.NoError(t, errors.Join(c.List(t.Context(), &maps), c.List(t.Context(), &accounts)))
	for i := range maps.Items {
		uids[string(maps.Items[i].UID)] = maps.Items[i].Name
	}
	for _, m := range maps.Items {
		for _, o := range m.OwnerReferences {
			m.Data["owner"] += uids[string(o.UID)]
		}
		out[m.Name] = m.Data
	}
	for _, a := range accounts.Items {
		out[a.Name] = len(a.OwnerReferences)
	}
	return out
}

// TestOvertakenWithinARun lets another client write between what a run sees and what it does.
func TestOvertakenWithinARun(t *testing.T) {
	tests := map[string]struct {
		claim Claim
		at    string // the write that comes too late
		other func(t *testing.T, c client.WithWatch)
		want  Outcome
	}{
		"created meanwhile": {nil, "create ConfigMap a", func(t *testing.T, c client.WithWatch) {
			must.NoError(t, c.Create(t.Context(), configMap("a", "theirs")))
		}, Configured},
		"created meanwhile by who keeps it": {NotOurs("mine"), "create ConfigMap a", func(t *testing.T, c client.WithWatch) {
			must.NoError(t, c.Create(t.Context(), configMap("a", "theirs")))
		}, NotAttempted},
		"deleted meanwhile": {nil, "patch ConfigMap b", func(t *testing.T, c client.WithWatch) {
			must.NoError(t, c.Delete(t.Context(), configMap("b", "")))
		}, Created},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			engine(c).Apply(t.Context(), []Phase{phase(configMap("b", "old"))})
			done := false
			c.Before = func(write string) error {
				if write == tc.at && !done {
					done = true
					tc.other(t, c.Inner)
				}
				return nil
			}
			name := tc.at[len(tc.at)-1:]
			r := engine(c).Apply(t.Context(), []Phase{{Objects: []Object{{Wanted: configMap(name, "ours"), Claim: tc.claim}}}})
			if got := outcomes(r)[0]; got != tc.want || (r.Err() != nil) != (tc.claim != nil) {
				t.Errorf("%v %v, want %v", got, r.Err(), tc.want)
			}
		})
	}
}
