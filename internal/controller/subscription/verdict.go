package subscription

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/plan"
)

// view is one Subscription with all that concerns it.
type view struct {
	sub       *v1alpha1.Subscription
	state     *state
	group     *group       // nil when it took no part in the decision
	choice    *plan.Choice // what it is to become; nil when it is to stay as it is
	installed *v1alpha1.ClusterServiceVersion
	plan      *v1alpha1.InstallPlan // the plan that it waits for, or waited for last
	idle      string
	broken    string
}

func (d *decision) view(s *state, sub *v1alpha1.Subscription) view {
	v := view{sub: sub, state: s, idle: d.idle[sub.Name], broken: d.broken, installed: s.Operator(s.Installed(sub))}
	for i := range d.groups {
		if slices.Contains(d.groups[i].Subscriptions, sub.Name) {
			v.group = &d.groups[i]
		}
	}
	if v.group != nil {
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
	name := v.sub.Annotations[v1alpha1.GeneratedByAnnotation]
	if v.sub.Status.InstallPlanRef != nil {
		name = v.sub.Status.InstallPlanRef.Name
	}
	for i := range v.state.Plans {
		if name != "" && v.state.Plans[i].Name == name {
			return &v.state.Plans[i]
		}
	}
	return nil
}

// verdict is what the Ready condition says: whether the operator runs as the Subscription asks, and if not, the first cause.
type verdict struct {
	ready   bool
	reason  string
	message string
}

func (v view) verdict() verdict {
	if cause, found := v.obstacle(); found {
		// What already runs goes on running while something newer is held up.
		cause.ready = v.running() && v.choice != nil
		return cause
	}
	if v.installed == nil {
		return verdict{reason: "NotInstalled", message: "the operator is not installed yet"}
	}
	if !v.running() {
		return verdict{reason: cmp.Or(string(v.installed.Status.Phase), "Pending"), message: fmt.Sprintf("ClusterServiceVersion %s is %s: %s",
			v.installed.Name, cmp.Or(string(v.installed.Status.Phase), "new"), cmp.Or(v.installed.Status.Message, "nobody has looked at it yet"))}
	}
	message := fmt.Sprintf("ClusterServiceVersion %s is installed and running", v.installed.Name)
	for _, h := range v.held() {
		message += fmt.Sprintf("; %s is held back, see condition %s", cmp.Or(h.Wanted, "an upgrade"), heldBackCondition)
	}
	return verdict{ready: true, reason: "Installed", message: message}
}

// held is what the Subscription, or what it chose, would rather have.
func (v view) held() []plan.Held {
	if v.group == nil {
		return nil
	}
	var own []plan.Held
	for _, h := range v.group.Held {
		if h.Subscription == v.sub.Name || v.choice != nil && h.Asker == "bundle "+v.choice.Bundle.Name {
			own = append(own, h)
		}
	}
	return own
}

// obstacle is the first thing that keeps the Subscription from what it asks for.
func (v view) obstacle() (verdict, bool) {
	switch {
	case v.idle != "":
		return verdict{reason: "OperatorDeleted", message: v.idle}, true
	case v.broken != "":
		return verdict{reason: "ResolutionFailed", message: v.broken}, true
	case v.group != nil && v.group.Err != nil:
		return verdict{reason: "ResolutionFailed", message: v.group.Err.Error()}, true
	case v.group == nil || v.choice == nil:
		return verdict{}, false
	case len(v.group.failures) > 0:
		return verdict{reason: "BundleUnpackFailed", message: v.group.failureText()}, true
	case len(v.group.fetching) > 0:
		return verdict{reason: "BundleUnpacking", message: "fetching " + strings.Join(v.group.fetching, ", ")}, true
	case v.group.problem != "":
		return verdict{reason: "InstallPlanNotWritten", message: v.group.problem}, true
	case v.plan == nil || v.group.waitsFor != "":
		return verdict{reason: "InstallPlanPending", message: v.withoutPlan()}, true
	}
	return v.planObstacle()
}

func (v view) withoutPlan() string {
	if v.group.waitsFor != "" {
		return fmt.Sprintf("%s is available; InstallPlan %s has to be complete first", v.choice.Bundle.Name, v.group.waitsFor)
	}
	return fmt.Sprintf("%s is available; its InstallPlan is about to be written", v.choice.Bundle.Name)
}

func (v view) planObstacle() (verdict, bool) {
	name := v.plan.Name
	switch v.plan.Status.Phase {
	case v1alpha1.InstallPlanPhaseRequiresApproval:
		return verdict{reason: "RequiresApproval", message: fmt.Sprintf("InstallPlan %s would install %s; set its spec.approved to true to go on",
			name, strings.Join(v.plan.Spec.ClusterServiceVersionNames, ", "))}, true
	case v1alpha1.InstallPlanPhaseFailed:
		return verdict{reason: "InstallPlanFailed", message: fmt.Sprintf("InstallPlan %s failed: %s; it is tried again after %s, or at once when you delete it",
			name, v.plan.Status.Message, repeatFailed)}, true
	case v1alpha1.InstallPlanPhaseComplete:
		return verdict{}, false
	}
	return verdict{reason: "InstallPlanPending", message: fmt.Sprintf("InstallPlan %s is being carried out%s", name, prefixed(": ", v.plan.Status.Message))}, true
}

func (v view) running() bool {
	return v.installed != nil && v.installed.Status.Phase == v1alpha1.CSVPhaseSucceeded
}

func (g *group) failureText() string {
	texts := make([]string, len(g.failures))
	for i, f := range g.failures {
		texts[i] = f.err.Error()
	}
	return strings.Join(texts, "; ")
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}
