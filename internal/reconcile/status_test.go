package reconcile

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"fairlead.dev/fairlead/test/must"
)

func TestStatusWriter(t *testing.T) {
	type pass struct {
		stale bool   // whether the cache shows the object as it was before the last pass
		phase string // what is to be written, with a host
		host  string
		want  string // what the cluster has then
		wrote bool
	}
	for name, test := range map[string]struct {
		optimistic bool
		conflicts  bool
		passes     []pass
		lines      []string
	}{
		"what is new is written": {passes: []pass{{phase: "Running", want: "Running/", wrote: true}}, lines: []string{"Running"}},
		"once":                   {passes: []pass{{phase: "Running", want: "Running/", wrote: true}, {phase: "Running", want: "Running/"}}, lines: []string{"Running"}},
		"once on a stale cache":  {passes: []pass{{phase: "Running", want: "Running/", wrote: true}, {stale: true, phase: "Running", want: "Running/"}}, lines: []string{"Running"}},
		"back to what a stale cache shows": {passes: []pass{{phase: "Running", want: "Running/", wrote: true}, {stale: true, phase: "Pending", want: "Pending/", wrote: true}},
			lines: []string{"Running", "Pending"}},
		"what is no transition has no line": {passes: []pass{{phase: "Running", want: "Running/", wrote: true}, {phase: "Running", host: "h", want: "Running/h", wrote: true}},
			lines: []string{"Running"}},
		"what has changed since is left to the next pass": {optimistic: true, conflicts: true,
			passes: []pass{{phase: "Running", want: "Running/", wrote: true}, {stale: true, phase: "Pending", want: "Running/"}}, lines: []string{"Running"}},
	} {
		t.Run(name, func(t *testing.T) {
			var lines []string
			ctx := ctrl.LoggerInto(t.Context(), funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{}))
			c := fake.NewClientBuilder().WithStatusSubresource(&corev1.Pod{}).
				WithObjects(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p", UID: "1"}, Status: corev1.PodStatus{Phase: "Pending"}}).Build()
			m := &StatusMemory[corev1.PodStatus]{}
			w := StatusWriter[*corev1.Pod, corev1.PodStatus]{Memory: m, Client: c, Owner: "test", Optimistic: test.optimistic,
				Status: func(p *corev1.Pod) *corev1.PodStatus { return &p.Status },
				States: func(s *corev1.PodStatus) []State {
					return []State{{Type: "Phase", Status: string(s.Phase), Reason: "R"}}
				}}
			var cached *corev1.Pod
			for i, p := range test.passes {
				if !p.stale {
					cached = &corev1.Pod{}
					must.NoError(t, c.Get(ctx, types.NamespacedName{Namespace: "a", Name: "p"}, cached))
				}
				if got := m.Stale(cached); got != p.stale {
					t.Errorf("pass %d: stale is %t, want %t", i, got, p.stale)
				}
				before := cached.DeepCopy()
				after, err := w.Write(ctx, cached, corev1.PodStatus{Phase: corev1.PodPhase(p.phase), NominatedNodeName: p.host})
				if (err != nil) != (test.conflicts && i > 0) || err != nil && !apierrors.IsConflict(err) {
					t.Errorf("pass %d: %v", i, err)
				}
				must.Equal(t, "cached", cached, before)
				if got := after != cached; got != p.wrote {
					t.Errorf("pass %d: wrote is %t, want %t", i, got, p.wrote)
				}
				live := &corev1.Pod{}
				must.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(cached), live))
				if got := string(live.Status.Phase) + "/" + live.Status.NominatedNodeName; got != p.want {
					t.Errorf("pass %d: the cluster has %s, want %s", i, got, p.want)
				}
			}
			var want []string
			for _, phase := range test.lines {
				want = append(want, fmt.Sprintf(`"level"=0 "msg"="status changed" "kind"="Pod" "namespace"="a" "name"="p" "generation"=0 "type"="Phase" "status"=%q "reason"="R" "message"=""`, phase))
			}
			must.Equal(t, "lines", lines, want)
		})
	}
}

// TestStatusWriterPatch: a status is written with the patch of its kind, which is made from what the object has.
func TestStatusWriterPatch(t *testing.T) {
	c := fake.NewClientBuilder().WithStatusSubresource(&corev1.Pod{}).
		WithObjects(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p"}, Status: corev1.PodStatus{Phase: "Pending", Reason: "kept"}}).Build()
	cached := &corev1.Pod{}
	must.NoError(t, c.Get(t.Context(), types.NamespacedName{Namespace: "a", Name: "p"}, cached))
	w := StatusWriter[*corev1.Pod, corev1.PodStatus]{Memory: &StatusMemory[corev1.PodStatus]{}, Client: c, Owner: "test",
		Status: func(p *corev1.Pod) *corev1.PodStatus { return &p.Status },
		Patch: func(from *corev1.Pod, next *corev1.PodStatus) (client.Patch, error) {
			if next.Phase == "" {
				return nil, errors.New("no phase")
			}
			return client.RawPatch(types.JSONPatchType, []byte(fmt.Sprintf(`[{"op":"test","path":"/status/phase","value":%q},{"op":"replace","path":"/status/phase","value":%q}]`,
				from.Status.Phase, next.Phase))), nil
		}}
	for _, phase := range []corev1.PodPhase{"Running", "Failed"} { // the cache lags behind the first write
		after := must.Value(w.Write(t.Context(), cached, corev1.PodStatus{Phase: phase}))(t)
		must.Equal(t, "status", after.Status, corev1.PodStatus{Phase: phase, Reason: "kept"})
	}
	_, err := w.Write(t.Context(), cached, corev1.PodStatus{})
	must.Equal(t, "error", fmt.Sprint(err), "encode the status of Pod a/p: no phase")
}

// TestStatusWriterAnotherObject: what was written to an object says nothing of another one that has its name, or of one that is gone.
func TestStatusWriterAnotherObject(t *testing.T) {
	pod := func(uid types.UID) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p", UID: uid}}
	}
	c := fake.NewClientBuilder().WithStatusSubresource(&corev1.Pod{}).WithObjects(pod("1")).Build()
	m := &StatusMemory[corev1.PodStatus]{}
	w := StatusWriter[*corev1.Pod, corev1.PodStatus]{Memory: m, Client: c, Owner: "test", Status: func(p *corev1.Pod) *corev1.PodStatus { return &p.Status }}
	first := &corev1.Pod{}
	must.NoError(t, c.Get(t.Context(), types.NamespacedName{Namespace: "a", Name: "p"}, first))
	running := corev1.PodStatus{Phase: corev1.PodRunning}
	if _, err := w.Write(t.Context(), first, running); err != nil || !m.Stale(first) {
		t.Fatalf("%v, and stale is %t", err, m.Stale(first))
	}
	must.NoError(t, c.Delete(t.Context(), first))
	must.NoError(t, c.Create(t.Context(), pod("2")))
	second := &corev1.Pod{}
	must.NoError(t, c.Get(t.Context(), types.NamespacedName{Namespace: "a", Name: "p"}, second))
	if after, err := w.Write(t.Context(), second, running); err != nil || after.Status.Phase != corev1.PodRunning {
		t.Errorf("%v, %s", err, after.Status.Phase)
	}
	must.NoError(t, c.Delete(t.Context(), second))
	if after, err := w.Write(t.Context(), second, corev1.PodStatus{Phase: corev1.PodFailed}); err != nil || after != second || m.Stale(second) {
		t.Errorf("an object that is gone: %v, wrote is %t, stale is %t", err, after != second, m.Stale(second))
	}
}

// TestStale: a pass over an object that a cache shows as it was before the last write would write the same again.
func TestStale(t *testing.T) {
	of := func(uid, version string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p", UID: types.UID(uid), ResourceVersion: version}}
	}
	for name, tc := range map[string]struct {
		before, after, cached string
		uid                   string
		want                  bool
	}{
		"the version that was written over":       {"5", "9", "5", "a", true},
		"one between the two":                     {"5", "9", "7", "a", true},
		"the one that was written":                {"5", "9", "9", "a", false},
		"a later one":                             {"5", "9", "12", "a", false},
		"another object of the name, as restored": {"5", "9", "3", "b", false},
		"versions that are no numbers":            {"x", "y", "x", "a", true},
		"nothing was changed":                     {"5", "5", "5", "a", false},
	} {
		t.Run(name, func(t *testing.T) {
			m := &StatusMemory[corev1.PodStatus]{}
			must.Equal(t, "stale before anything was written", m.Stale(of("a", tc.before)), false)
			m.Remember(of("a", tc.before), of("a", tc.after), corev1.PodStatus{})
			must.Equal(t, "stale", m.Stale(of(tc.uid, tc.cached)), tc.want)
			m.Forget(types.NamespacedName{Namespace: "a", Name: "p"})
			must.Equal(t, "stale after it was forgotten", m.Stale(of("a", tc.before)), false)
		})
	}
}
