package subscription

import (
	"slices"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
)

// view is one Subscription with all that concerns it.
type view struct {
	sub       *v1alpha1.Subscription
	state     *state
	group     *group             // nil when it took no part in the decision
	choice    *resolution.Choice // what it is to become; nil when it is to stay as it is
	installed *v1alpha1.ClusterServiceVersion
	plan      *v1alpha1.InstallPlan // the plan that it waits for, or waited for last
	catalogs  catalogs
	held      heldBack
	idle      string
	broken    string
	// ungated are the reasons to hold every upgrade that no time ends, such as an upgrade window that cannot be read.
	ungated []string
	// supported reports whether the installed version is supported; nil where nothing is known of that.
	supported *resolution.SupportVerdict
}

func (d *decision) view(s *state, sub *v1alpha1.Subscription, now time.Time) view {
	v := view{sub: sub, state: s, idle: d.idle[sub.Name], broken: d.broken, installed: s.Operator(s.Installed(sub))}
	if v.group = d.groupOf(sub.Name); v.group != nil {
		if name := v.group.Installed[sub.Name]; name != "" {
			v.installed = s.Operator(name)
		}
		for i := range v.group.Choices {
			if slices.Contains(v.group.Choices[i].Subscriptions, sub.Name) {
				v.choice = &v.group.Choices[i]
			}
		}
	}
	v.held = heldOf(v.group, sub.Name, v.choice)
	v.catalogs = catalogs{sub: sub, all: s.Sources, missing: missing(s, v.group, v.held),
		named: s.Source(catalog.Ref{Namespace: sub.Spec.CatalogSourceNamespace, Name: sub.Spec.CatalogSource})}
	v.supported = v.catalogs.support(v.installed, now)
	// The plan that installs what the Subscription is to become, else the one that its status or, for a Subscription that a plan made, its
	// annotation names.
	if v.planned() {
		v.plan = v.group.installPlan
		return v
	}
	name := planOf(v.sub)
	for i := range s.Plans {
		if name != "" && s.Plans[i].Name == name {
			v.plan = &s.Plans[i]
			break
		}
	}
	return v
}

// planOf names the plan that a Subscription refers to; empty when it refers to none.
func planOf(sub *v1alpha1.Subscription) string {
	if sub.Status.InstallPlanRef != nil {
		return sub.Status.InstallPlanRef.Name
	}
	return sub.Annotations[v1alpha1.GeneratedByAnnotation]
}

// planned reports whether there is a plan for what the Subscription is to become.
func (v view) planned() bool { return v.choice != nil && v.group.installPlan != nil }

// pending reports whether the plan that the Subscription waited for last may still be carried out, although it cannot be known whether the
// same would be decided again: there is no answer, or its catalog was not there to be asked.
func (v view) pending() bool {
	decided := v.group != nil && v.group.Err == nil && v.catalogs.named != nil && v.catalogs.named.Healthy()
	return v.choice == nil && v.plan != nil && !decided && v.plan.Status.Phase != v1alpha1.InstallPlanPhaseComplete && v.state.Operator(v.sub.Status.CurrentCSV) == nil &&
		slices.Contains(v.plan.Spec.ClusterServiceVersionNames, v.sub.Status.CurrentCSV)
}

func finished(p *v1alpha1.InstallPlan) bool {
	return p.Status.Phase == v1alpha1.InstallPlanPhaseComplete || p.Status.Phase == v1alpha1.InstallPlanPhaseFailed
}

// partiallyInstalled reports whether the plan of what is installed failed after the ClusterServiceVersion was there: other objects of it may be missing.
func (v view) partiallyInstalled() bool {
	return v.choice == nil && v.plan != nil && v.plan.Status.Phase == v1alpha1.InstallPlanPhaseFailed && v.installed != nil &&
		slices.Contains(v.plan.Spec.ClusterServiceVersionNames, v.installed.Name)
}

// awaited is a catalog that is still being loaded and without which nothing is known about the Subscription; nil when there is none.
func (v view) awaited() *snapshot.Source {
	if v.choice != nil {
		return nil
	}
	// The first of the catalogs that is still being loaded; nil when all are.
	for _, s := range append([]*snapshot.Source{v.catalogs.named}, v.catalogs.missing...) {
		if s != nil && s.Loading() {
			return s
		}
	}
	return nil
}

// isIn reports whether there is an operator, and it is in a phase.
func isIn(phase v1alpha1.ClusterServiceVersionPhase, csv *v1alpha1.ClusterServiceVersion) bool {
	return csv != nil && csv.Status.Phase == phase
}
