package subscription

import (
	"errors"
	"slices"

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
	source    *snapshot.Source      // the catalog that it names; nil when that is not in view
	idle      string
	broken    string
}

func (d *decision) view(s *state, sub *v1alpha1.Subscription) view {
	v := view{sub: sub, state: s, idle: d.idle[sub.Name], broken: d.broken, installed: s.Operator(s.Installed(sub))}
	v.source = s.Source(catalog.Ref{Namespace: sub.Spec.CatalogSourceNamespace, Name: sub.Spec.CatalogSource})
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
	v.plan = v.currentPlan()
	return v
}

// currentPlan is the plan that installs what the Subscription is to become, else the one that its status or, for a Subscription
// that a plan made, its annotation names.
func (v view) currentPlan() *v1alpha1.InstallPlan {
	if v.choice != nil && v.group.installPlan != nil {
		return v.group.installPlan
	}
	name := planOf(v.sub)
	for i := range v.state.Plans {
		if name != "" && v.state.Plans[i].Name == name {
			return &v.state.Plans[i]
		}
	}
	return nil
}

// planOf names the plan that a Subscription refers to; empty when it refers to none.
func planOf(sub *v1alpha1.Subscription) string {
	if sub.Status.InstallPlanRef != nil {
		return sub.Status.InstallPlanRef.Name
	}
	return sub.Annotations[v1alpha1.GeneratedByAnnotation]
}

// planned tells whether there is a plan for what the Subscription is to become.
func (v view) planned() bool { return v.choice != nil && v.group.installPlan != nil }

// pending tells whether the plan that the Subscription waited for last may still be carried out, although it cannot be known whether the
// same would be decided again.
func (v view) pending() bool {
	return v.choice == nil && v.plan != nil && !v.decided() && v.plan.Status.Phase != v1alpha1.InstallPlanPhaseComplete && v.state.Operator(v.sub.Status.CurrentCSV) == nil &&
		slices.Contains(v.plan.Spec.ClusterServiceVersionNames, v.sub.Status.CurrentCSV)
}

func finished(p *v1alpha1.InstallPlan) bool {
	return p.Status.Phase == v1alpha1.InstallPlanPhaseComplete || p.Status.Phase == v1alpha1.InstallPlanPhaseFailed
}

// half tells whether the plan of what is installed failed after the ClusterServiceVersion was there: something else of it may be missing.
func (v view) half() bool {
	return v.choice == nil && v.plan != nil && v.plan.Status.Phase == v1alpha1.InstallPlanPhaseFailed && v.installed != nil &&
		slices.Contains(v.plan.Spec.ClusterServiceVersionNames, v.installed.Name)
}

// waits tells whether its plan waits for approval.
func (v view) waits() bool {
	return v.plan != nil && v.plan.Status.Phase == v1alpha1.InstallPlanPhaseRequiresApproval
}

// decided tells whether it is known what the Subscription should be: there is an answer, and its catalog was there to be asked.
func (v view) decided() bool {
	return v.group != nil && v.group.Err == nil && v.source != nil && v.source.Healthy()
}

// awaited is a catalog that is still being loaded and without which nothing can be said about the Subscription; nil when there is none.
func (v view) awaited() *snapshot.Source {
	if v.choice != nil {
		return nil
	}
	if v.source != nil && v.source.Loading() {
		return v.source
	}
	for _, ref := range v.unavailable() {
		if s := v.state.Source(ref); s != nil && s.Loading() {
			return s
		}
	}
	return nil
}

// unavailable are the catalogs without content that the decision would have had to ask, other than the one that the Subscription names.
func (v view) unavailable() []catalog.Ref {
	var refs []catalog.Ref
	if v.group == nil {
		return nil
	}
	if v.state.Annotated(snapshot.TogetherAnnotation) {
		for i := range v.state.Sources {
			if s := &v.state.Sources[i]; !s.Healthy() {
				refs = append(refs, s.Ref())
			}
		}
	}
	var conflict *resolution.Conflict
	if errors.As(v.group.Err, &conflict) {
		refs = append(refs, conflict.Unavailable...)
	}
	for _, h := range v.held() {
		if h.Conflict != nil {
			refs = append(refs, h.Conflict.Unavailable...)
		}
	}
	slices.SortFunc(refs, catalog.Ref.Compare)
	return slices.Compact(refs)
}

// held is what the Subscription, or what it chose, would rather have.
func (v view) held() []resolution.Held {
	if v.group == nil {
		return nil
	}
	var own []resolution.Held
	for _, h := range v.group.Held {
		if h.Subscription == v.sub.Name || v.choice != nil && h.Asker == "bundle "+v.choice.Bundle.Name {
			own = append(own, h)
		}
	}
	return own
}

func (v view) running() bool {
	return v.installed != nil && v.installed.Status.Phase == v1alpha1.CSVPhaseSucceeded
}

func (v view) failed() bool {
	return v.installed != nil && v.installed.Status.Phase == v1alpha1.CSVPhaseFailed
}
