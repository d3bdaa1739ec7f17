package subscription

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/test/must"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestOlderVersionSaysWhatHoldsItBack installs a version whose successor needs what no one provides.
func TestOlderVersionSaysWhatHoldsItBack(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	content := pkg("a", "A", "", "1.0.0", "2.0.0")
	at := strings.LastIndex(content, "- type: olm.gvk\n")
	w.serve("cat", content[:at]+"- type: olm.gvk.required\n  value: {group: example.com, version: v1, kind: Nowhere}\n"+content[at:])
	w.mustReconcile()
	w.carryOut(w.onlyPlan())
	w.mustReconcile()
	sub := w.subscription("a")
	if sub.Status.InstalledCSV != "a.v1.0.0" || ready(sub) != "True Installed" {
		t.Fatalf("the status is %+v", sub.Status)
	}
	must.Contain(t, "message of Ready", sub.Status.GetCondition(readyCondition).Message, "a.v2.0.0 is not installed")
	held := sub.Status.GetCondition(heldBackCondition)
	if held.Status != corev1.ConditionTrue || !strings.Contains(held.Message, "Nowhere.v1.example.com") || held.Reason != "NewerVersionNotPossible" {
		t.Errorf("HeldBack is %+v", held)
	}
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	if held = w.subscription("a").Status.GetCondition(heldBackCondition); held.Status == corev1.ConditionTrue {
		t.Errorf("HeldBack stays when there is nothing newer: %+v", held)
	}
}

func TestFailedOperatorIsReplacedWhereThatIsAskedFor(t *testing.T) {
	for name, strategy := range map[string]operatorsv1.UpgradeStrategy{"by default": "", "fail forward": operatorsv1.UpgradeStrategyUnsafeFailForward} {
		t.Run(name, func(t *testing.T) {
			og := operatorGroup("og")
			og.Spec.UpgradeStrategy = strategy
			w := newWorld(t, og, catalogSource("cat"), subscribe("a", "a", ""))
			w.serve("cat", pkg("a", "A", "", "1.0.0"))
			w.mustReconcile()
			w.carryOut(w.onlyPlan())
			w.setCSVPhase("a.v1.0.0", v1alpha1.CSVPhaseFailed)
			w.serve("cat", pkg("a", "A", "", "1.0.0", "2.0.0"))
			w.mustReconcile()
			forward := strategy != ""
			must.Equal(t, "a failed operator is replaced", len(w.plans()) == 2, forward)
			held := w.subscription("a").Status.GetCondition(heldBackCondition)
			if said := strings.Contains(held.Message, "TechPreviewUnsafeFailForward"); said == forward {
				t.Errorf("HeldBack says %q", held.Message)
			}
		})
	}
}

func (w *world) setCSVPhase(name string, phase v1alpha1.ClusterServiceVersionPhase) {
	w.t.Helper()
	csv := running(name, "")
	must.NoError(w.t, w.client.Get(w.t.Context(), client.ObjectKeyFromObject(csv), csv))
	csv.Status.Phase = phase
	must.NoError(w.t, w.client.Status().Update(w.t.Context(), csv))
}

// TestRecreatedSubscriptionTakesItsOperatorOver deletes a Subscription and makes it again; a copied ClusterServiceVersion of the same
// package is no operator of the namespace.
func TestRecreatedSubscriptionTakesItsOperatorOver(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	w.carryOut(w.onlyPlan())
	w.mustReconcile()
	copied := running("a.v0.9.0", "")
	copied.Annotations[v1alpha1.OperatorNamespaceAnnotation] = "elsewhere"
	w.add(copied)
	w.remove(w.subscription("a"))
	w.add(subscribe("a", "a", ""))
	w.mustReconcile()
	w.mustReconcile()
	if sub := w.subscription("a"); sub.Status.InstalledCSV != "a.v1.0.0" || ready(sub) != "True Installed" || len(w.plans()) != 1 {
		t.Errorf("%d plans, and the status is %+v", len(w.plans()), sub.Status)
	}
}

// TestDecisionCanBeReplayed decides again on what is recorded with a plan.
func TestDecisionCanBeReplayed(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("b", "b", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0")+pkg("b", "B", "A", "1.0.0"))
	w.mustReconcile()
	text := w.onlyPlan().Annotations[resolution.DecisionAnnotation]
	var record resolution.NamespaceRecord
	if err := json.Unmarshal([]byte(text), &record); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	result := must.Value(record.Replay(t.Context(), func(name, digest string) (*catalog.Index, error) {
		e, _ := w.controller.Catalogs.Get(catalog.Ref{Namespace: ns, Name: "cat"})
		if name != ns+"/cat" || e.Index.Digest() != digest {
			return nil, errors.New("no such catalog")
		}
		return e.Index, nil
	}))(t)
	again := must.Value(json.Marshal(result.Groups[0].Record))(t)
	must.Equal(t, "decision, made again", string(again), text)
	if len(text) > 1024 {
		t.Errorf("the record of a small decision has %d bytes", len(text))
	}
}

type server struct {
	version string
	err     error
	asked   int
}

func (s *server) ServerVersion() (*apimachineryversion.Info, error) {
	s.asked++
	return &apimachineryversion.Info{GitVersion: s.version}, s.err
}

func TestClusterVersion(t *testing.T) {
	s := &server{err: errors.New("refused")}
	clock := clocktesting.NewFakePassiveClock(time.Unix(1_700_000_000, 0))
	v := clusterVersion(s, clock)
	later := func() { clock.SetTime(clock.Now().Add(reconcile.VersionLifetime + time.Second)) }
	check := func(when, want string) {
		t.Helper()
		if got := v.Get(context.Background()); !got.Equals(semver.MustParse(want)) {
			t.Errorf("%s the version is %s, want %s", when, got, want)
		}
	}
	check("while it cannot be had", "0.0.0")
	s.version, s.err = "v1.36.3-gke.1", nil
	later()
	check("once it can be had", "1.36.3-gke.1")
	check("at once again", "1.36.3-gke.1")
	must.Equal(t, "requests to the cluster", s.asked, 2)
	s.err = errors.New("refused")
	later()
	check("when it cannot be had any more", "1.36.3-gke.1")
}

// TestKubernetesIsLookedAt serves a version that needs a newer cluster.
func TestKubernetesIsLookedAt(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.kubernetes = semver.MustParse("1.28.0")
	content := pkg("a", "A", "", "1.0.0", "2.0.0")
	w.serve("cat", content+"- type: olm.csv.metadata\n  value: {minKubeVersion: 1.30.0}\n")
	w.mustReconcile()
	if got := w.onlyPlan().Spec.ClusterServiceVersionNames; len(got) != 1 || got[0] != "a.v1.0.0" {
		t.Errorf("the plan installs %v", got)
	}
	must.Contain(t, "HeldBack", w.subscription("a").Status.GetCondition(heldBackCondition).Message, "needs Kubernetes 1.30.0 or newer")
}
