package subscription

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/test/must"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// history is a world in which anything happens: users change their minds, catalogs come and go, operators fail, writes fail, and the
// manager starts again.
type history struct {
	*world
	dice *rand.Rand
	log  []string
}

func (h *history) below(n int) int { return h.dice.IntN(n) }

func pick[T any](h *history, all ...T) T { return all[h.below(len(all))] }

// content is a catalog of two packages, the second of which may need the first.
func (h *history) content() string {
	versions := []string{"1.0.0", "1.1.0", "2.0.0", "3.0.0"}
	text := pkg("a", "A", "", versions[:1+h.below(4)]...)
	needs := pick(h, "", "A", "Nowhere")
	text += pkg("b", "B", needs, versions[h.below(2):2+h.below(2)]...)
	if h.below(3) == 0 {
		text += "---\nschema: olm.deprecations\npackage: a\nentries:\n- {reference: {schema: olm.package}, message: use b}\n"
	}
	return text
}

// happen lets one thing happen.
func (h *history) happen() {
	events := []struct {
		name string
		do   func()
	}{
		{"catalog", func() { h.serve(pick(h, "cat", "cat", "other"), h.content()) }},
		{"catalog fails", func() { h.publish(pick(h, "cat", "other"), catalogstore.Entry{Problem: "connection refused"}) }},
		{"manager starts again", h.restart},
		{"subscribe", func() {
			name := pick(h, "a", "b")
			sub := subscribe(name, name, pick(h, v1alpha1.ApprovalAutomatic, v1alpha1.ApprovalManual))
			sub.UID = types.UID(fmt.Sprintf("uid-%s-%d", name, len(h.log)))
			_ = h.client.Create(h.t.Context(), sub)
		}},
		{"unsubscribe", func() { h.drop(&v1alpha1.Subscription{}, pick(h, "a", "b")) }},
		{"channel", func() {
			h.edit(func(s *v1alpha1.Subscription) { s.Spec.Channel = pick(h, "stable", "stable", "", "none") })
		}},
		{"source", func() {
			h.edit(func(s *v1alpha1.Subscription) { s.Spec.CatalogSource = pick(h, "cat", "cat", "other", "none") })
		}},
		{"approval", func() {
			h.edit(func(s *v1alpha1.Subscription) {
				s.Spec.InstallPlanApproval = pick(h, v1alpha1.ApprovalAutomatic, v1alpha1.ApprovalManual)
			})
		}},
		{"range", func() {
			h.edit(func(s *v1alpha1.Subscription) {
				s.Annotations = map[string]string{resolution.VersionRangeAnnotation: pick(h, "", "<2.0.0", "1.0.0", ">=9.0.0", "newest")}
			})
		}},
		{"group", func() {
			n := h.below(3)
			for _, name := range []string{"og", "og2"} {
				og := operatorGroup(name)
				_ = h.client.Delete(h.t.Context(), og)
				if n--; n >= 0 {
					og = operatorGroup(name)
					og.Annotations = map[string]string{snapshot.TogetherAnnotation: pick(h, "", "true")}
					og.Spec.UpgradeStrategy = pick(h, "", operatorsv1.UpgradeStrategyUnsafeFailForward)
					_ = h.client.Create(h.t.Context(), og)
				}
			}
		}},
		{"approve", func() { h.eachPlan(h.approve) }},
		{"carry out", h.carryOutSome},
		{"carry out again", h.carryOutSome},
		{"fail", func() { h.eachPlan(h.fail) }},
		{"remove plan", func() { h.eachPlan(func(p *v1alpha1.InstallPlan) { h.world.remove(p) }) }},
		{"operator", h.operatorChanges},
		{"write fails", func() { h.KillAt(1+h.below(3), false) }},
		{"time passes", func() { h.Clock.Step(pick(h, time.Second, time.Minute, 6*time.Minute, time.Hour)) }},
	}
	e := events[h.below(len(events))]
	h.log = append(h.log, e.name)
	e.do()
}

func (h *history) restart() {
	h.controller.Catalogs = catalogstore.NewSet()
	h.controller.events = record.NewFakeRecorder(10_000)
}

// drop removes an object if it is there.
func (h *history) drop(o client.Object, name string) {
	o.SetNamespace(ns)
	o.SetName(name)
	_ = h.client.Delete(h.t.Context(), o)
}

func (h *history) edit(change func(*v1alpha1.Subscription)) {
	var all v1alpha1.SubscriptionList
	must.NoError(h.t, h.client.List(h.t.Context(), &all))
	if len(all.Items) > 0 {
		h.change(all.Items[h.below(len(all.Items))].Name, change)
	}
}

// eachPlan does something with one of the plans that are not finished.
func (h *history) eachPlan(do func(*v1alpha1.InstallPlan)) {
	plans := h.plans()
	if len(plans) == 0 {
		return
	}
	if p := &plans[h.below(len(plans))]; !finished(p) {
		do(p)
	}
}

func (h *history) carryOutSome() {
	h.eachPlan(func(p *v1alpha1.InstallPlan) {
		for _, lookup := range p.Status.BundleLookups {
			if h.below(8) == 0 {
				h.fail(p)
				return
			}
			_ = h.client.Create(h.t.Context(), running(lookup.Identifier, lookup.Properties))
			if lookup.Replaces != "" {
				h.drop(&v1alpha1.ClusterServiceVersion{}, lookup.Replaces)
			}
		}
		h.setPhase(p, v1alpha1.InstallPlanPhaseComplete)
	})
}

func (h *history) operatorChanges() {
	var all v1alpha1.ClusterServiceVersionList
	must.NoError(h.t, h.client.List(h.t.Context(), &all))
	if len(all.Items) == 0 {
		return
	}
	csv := all.Items[h.below(len(all.Items))].Name
	if h.below(4) == 0 {
		h.removeCSV(csv)
		return
	}
	h.setCSVPhase(csv, pick(h, v1alpha1.CSVPhaseNone, v1alpha1.CSVPhasePending, v1alpha1.CSVPhaseInstalling, v1alpha1.CSVPhaseFailed, v1alpha1.CSVPhaseSucceeded))
}

// settle looks at the namespace until nothing is written any more.
func (h *history) settle() {
	const enough = 12
	for range enough {
		h.Taken()
		if err := h.reconcile(); err == nil && len(h.Writes()) == 0 {
			h.KillAt(0, false) // what is not used up is not for what users do
			return
		}
	}
	h.t.Fatalf("after %d looks there is still something to write: %v\nhistory: %v", enough, h.Writes(), h.log)
}

// TestNoHistoryLeadsToAContradiction lets things happen at random. Whatever they were, the status says one thing only, every Subscription
// has a verdict with a reason, and the namespace comes to rest.
func TestNoHistoryLeadsToAContradiction(t *testing.T) {
	histories := 40
	if testing.Short() {
		histories = 8
	}
	for seed := range histories {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, operatorGroup("og"), catalogSource("cat"), catalogSource("other"), subscribe("a", "a", ""), subscribe("b", "b", ""))
			h := &history{world: w, dice: rand.New(rand.NewPCG(uint64(seed), 1))}
			for range 50 {
				h.happen()
				h.settle()
				var all v1alpha1.SubscriptionList
				must.NoError(t, h.client.List(t.Context(), &all))
				for i := range all.Items {
					if all.Items[i].Namespace != ns {
						continue
					}
					for _, complaint := range contradictions(&all.Items[i]) {
						t.Fatalf("%s\nhistory: %v", complaint, h.log)
					}
				}
			}
		})
	}
}
