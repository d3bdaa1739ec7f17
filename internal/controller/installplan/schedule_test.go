package installplan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// moody renders bundles again when it is in the mood; else they are on their way, or the registry says no.
type moody struct {
	rng     *rand.Rand
	willing bool
	clock   func() time.Time
	bundles map[string]offer
}

func (m *moody) Steps(_ context.Context, namespace string, lookup v1alpha1.BundleLookup) ([]bundle.Step, error) {
	if !m.willing {
		switch m.rng.IntN(3) {
		case 0:
			return nil, &fetchError{name: lookup.Identifier, state: bundleio.State{}}
		case 1:
			return nil, &fetchError{name: lookup.Identifier, state: bundleio.State{Slow: "1 of 2 MiB after 5s"}}
		case 2:
			return nil, &fetchError{name: lookup.Identifier, state: bundleio.State{Err: errors.New("registry says no"), RetryAt: m.clock().Add(time.Second)}}
		}
	}
	manifests := m.bundles[lookup.Identifier].manifests()
	raw := make([]json.RawMessage, len(manifests))
	for i, text := range manifests {
		raw[i] = json.RawMessage(text)
	}
	b, err := bundle.FromManifests(raw)
	if err != nil {
		return nil, err
	}
	return bundle.PlanSteps(b, bundle.StepTarget{Namespace: namespace, Replaces: lookup.Replaces})
}

// forgetful is a content store that loses what it holds now and then.
type forgetful struct {
	store
	rng  *rand.Rand
	lost bool
}

func (f *forgetful) Resolve(ctx context.Context, text string) ([]byte, error) {
	if f.lost && f.rng.IntN(2) == 0 {
		return nil, fmt.Errorf("%w: %.20s", bundleio.ErrMissing, text)
	}
	return f.store.Resolve(ctx, text)
}

// TestAnyHandWrittenSchedule: names in a plan change, catalogs come and go, content is lost, registries have moods, writes and reads
// fail, the manager restarts, and it is approved at some time. No status contradicts itself or is without a reason, and in the end what
// it names runs.
func TestAnyHandWrittenSchedule(t *testing.T) {
	for seed := range uint64(sweep.Of(4, 20, 60)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := chance(seed, 7)
			w := newWorld(t, append([]client.Object{handMade("Manual", "web.v1.0.0")}, objects...)...)
			contents := &forgetful{store: w.store, rng: rng}
			registry := &moody{rng: rng, clock: w.Clock.Now, bundles: map[string]offer{}}
			for _, o := range whole {
				registry.bundles[o.name()] = o
			}
			w.controller.Manifests, w.controller.Bundles = contents, registry
			w.controller.RetryTimeout, w.controller.engine.Parallel = 24*time.Hour, 1
			w.Fault(func(string, bool) error { return randomError(rng, 0.1) })
			w.Read = func(client.Object, string) error { return randomError(rng, 0.02) }
			for range 25 {
				contents.lost = rng.IntN(3) == 0
				disturbPlan(t, w, rng)
				_, _ = w.reconcile(t)
				w.Clock.SetTime(w.Clock.Now().Add(time.Duration(rng.IntN(5000)) * time.Millisecond))
				checkStatus(t, w.plan(t, "plan"))
			}
			w.Fault(nil)
			w.Read, contents.lost, registry.willing = nil, rng.IntN(2) == 0, true
			w.controller.memory = memory{}
			w.shop(t, "ns", "cat", whole...)
			p := w.plan(t, "plan")
			p.Spec.Approved = true
			must.NoError(t, w.Inner.Update(t.Context(), p))
			p = w.settle(t, 10*time.Minute)
			checkStatus(t, p)
			hasPhase(t, p, v1alpha1.InstallPlanPhaseComplete)
			for _, name := range installs(p, "ClusterServiceVersion") {
				if !w.get(t, &v1alpha1.ClusterServiceVersion{}, "ns", name) {
					t.Errorf("%s does not exist", name)
				}
			}
		})
	}
}

// disturbPlan changes something around a plan that is written by hand.
func disturbPlan(t *testing.T, w *world, rng *rand.Rand) {
	t.Helper()
	ref := catalog.Ref{Namespace: "ns", Name: "cat"}
	switch p := w.plan(t, "plan"); rng.IntN(8) {
	case 0:
		w.controller.memory = memory{}
	case 1:
		w.controller.Catalogs.Withdraw(ref)
	case 2:
		w.controller.Catalogs.Publish(ref, catalogstore.Entry{Problem: "registry answers 503"})
	case 3, 4:
		w.shop(t, "ns", "cat", whole...)
	case 5:
		if p.Status.StartTime == nil {
			p.Spec.ClusterServiceVersionNames = [][]string{{"web.v1.0.0"}, {"web.v2.0.0", "base.v1.0.0"}, {"lone.v1.0.0"}}[rng.IntN(3)]
			must.NoError(t, w.Inner.Update(t.Context(), p))
		}
	case 6:
		p.Spec.Approved = rng.IntN(3) == 0 || p.Status.StartTime != nil
		must.NoError(t, w.Inner.Update(t.Context(), p))
	}
}
