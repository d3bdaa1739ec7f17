package demo

import (
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/content/bundleio"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// stage is a scene with one package, whose Subscription and operator can be changed.
func stage(change func(*v1alpha1.Subscription, *v1alpha1.ClusterServiceVersion)) *scene {
	sub := &v1alpha1.Subscription{Spec: &v1alpha1.SubscriptionSpec{Package: "p"}, Status: v1alpha1.SubscriptionStatus{
		State: v1alpha1.SubscriptionStateAtLatest, InstalledCSV: "p.v2",
		Conditions: []v1alpha1.SubscriptionCondition{{Type: "Ready", Status: "True"}},
	}}
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Name: "p.v2"}, Status: v1alpha1.ClusterServiceVersionStatus{Phase: v1alpha1.CSVPhaseSucceeded}}
	change(sub, csv)
	s := newScene()
	s.subscriptions["s"], s.operators[csv.Name] = sub, csv
	return s
}

func TestTheStoryGoesOnOnlyWhenAllIsDone(t *testing.T) {
	published := []bundleio.PublishedBundle{{Bundle: &bundle.Bundle{Package: "p", Name: "p.v1"}}, {Bundle: &bundle.Bundle{Package: "p", Name: "p.v2"}}}
	tests := map[string]struct {
		change func(*v1alpha1.Subscription, *v1alpha1.ClusterServiceVersion)
		head   bool
		newest bool
	}{
		"all is done": {func(*v1alpha1.Subscription, *v1alpha1.ClusterServiceVersion) {}, true, true},
		"the operator does not run": {func(_ *v1alpha1.Subscription, c *v1alpha1.ClusterServiceVersion) {
			c.Status.Phase = v1alpha1.CSVPhaseInstalling
		}, false, false},
		"an upgrade is under way": {func(s *v1alpha1.Subscription, _ *v1alpha1.ClusterServiceVersion) {
			s.Status.State = v1alpha1.SubscriptionStateUpgradePending
		}, false, false},
		"the verdict is not in yet": {func(s *v1alpha1.Subscription, _ *v1alpha1.ClusterServiceVersion) {
			s.Status.Conditions[0].Status = "False"
		}, false, false},
		"it is an older version": {func(s *v1alpha1.Subscription, c *v1alpha1.ClusterServiceVersion) {
			s.Status.InstalledCSV, c.Name = "p.v1", "p.v1"
		}, true, false},
		"the Subscription lags":      {func(s *v1alpha1.Subscription, _ *v1alpha1.ClusterServiceVersion) { s.Status.InstalledCSV = "p.v1" }, false, false},
		"a Subscription has no spec": {func(s *v1alpha1.Subscription, _ *v1alpha1.ClusterServiceVersion) { s.Spec = nil }, false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := stage(test.change)
			if got := s.atHead("p"); got != test.head {
				t.Errorf("atHead: %t", got)
			}
			if got := s.newest(published, "p"); got != test.newest {
				t.Errorf("newest: %t", got)
			}
		})
	}
	s := stage(func(*v1alpha1.Subscription, *v1alpha1.ClusterServiceVersion) {})
	s.operators["p.v1"] = &v1alpha1.ClusterServiceVersion{}
	if s.newest(published, "p") {
		t.Error("newest while the version before is still there")
	}
}
