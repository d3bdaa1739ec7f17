package demo

import (
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

// scene is what the demo knows of the namespace.
type scene struct {
	catalog       string
	subscriptions map[string]*v1alpha1.Subscription
	plans         map[string]v1alpha1.InstallPlanPhase
	operators     map[string]*v1alpha1.ClusterServiceVersion
}

func newScene() *scene {
	return &scene{
		subscriptions: map[string]*v1alpha1.Subscription{},
		plans:         map[string]v1alpha1.InstallPlanPhase{},
		operators:     map[string]*v1alpha1.ClusterServiceVersion{},
	}
}

func (s *scene) catalogReady() bool { return s.catalog == "READY" }

// operator is what the Subscription to a package has installed, if it runs.
func (s *scene) operator(pkg string) *v1alpha1.ClusterServiceVersion {
	for _, sub := range s.subscriptions {
		settled := sub.Status.State == v1alpha1.SubscriptionStateAtLatest && sub.Status.GetCondition("Ready").Status == "True"
		if sub.Spec != nil && sub.Spec.Package == pkg && settled {
			if csv := s.operators[sub.Status.InstalledCSV]; csv != nil && csv.Status.Phase == v1alpha1.CSVPhaseSucceeded {
				return csv
			}
		}
	}
	return nil
}

// atHead tells whether every package runs in the newest version that its Subscription knows of.
func (s *scene) atHead(packages ...string) bool {
	return !slices.ContainsFunc(packages, func(pkg string) bool { return s.operator(pkg) == nil })
}

// settled tells whether everything that is subscribed to runs, and its Subscription says so.
func (s *scene) settled() bool {
	for _, sub := range s.subscriptions {
		if sub.Spec == nil || s.operator(sub.Spec.Package) == nil {
			return false
		}
	}
	return true
}

// newest tells whether every package runs in the newest version that was published, and the version before is gone.
func (s *scene) newest(published []bundleio.PublishedBundle, packages ...string) bool {
	if len(s.operators) != len(packages) {
		return false
	}
	last := map[string]string{}
	for _, p := range published { // sorted by version
		last[p.Bundle.Package] = p.Bundle.Name
	}
	for _, pkg := range packages {
		if csv := s.operator(pkg); csv == nil || csv.Name != last[pkg] {
			return false
		}
	}
	return true
}
