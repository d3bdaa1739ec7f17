package subscription

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/schedule"

	corev1 "k8s.io/api/core/v1"
)

// verdict is what the Ready condition says: whether the operator runs as the Subscription asks, and if not, the first cause. It is
// stalled when nothing continues until a user changes something.
type verdict struct {
	ready   bool
	stalled bool
	reason  string
	message string
}

// shared is the verdict as all controllers report it.
func (v verdict) shared() reconcile.Verdict {
	switch {
	case v.ready:
		return reconcile.Done(v.reason, v.message)
	case v.stalled:
		return reconcile.Stalled(v.reason, v.message)
	case v.reason == reasonRequiresApproval:
		return reconcile.Held(v.reason, v.message)
	}
	return reconcile.Progressing(v.reason, v.message)
}

// reasonRequiresApproval is the reason of a Subscription whose plan waits for approval.
const reasonRequiresApproval = "RequiresApproval"

func (v view) verdict() verdict {
	if cause, found := v.obstacle(); found {
		return cause
	}
	if v.installed == nil {
		return verdict{reason: "NotInstalled", message: "the operator is not installed yet"}
	}
	if !isIn(v1alpha1.CSVPhaseSucceeded, v.installed) {
		return verdict{stalled: failed(v.installed), reason: cmp.Or(string(v.installed.Status.Phase), "Pending"), message: v.notRunning() + v.held.summary()}
	}
	return verdict{ready: true, reason: "Installed", message: fmt.Sprintf("ClusterServiceVersion %s is installed and running", v.installed.Name) + v.held.summary() +
		prefixed("; no upgrade can begin: ", tidy(strings.Join(v.ungated, "; ")))}
}

// failed reports whether an operator has failed, and nothing continues until a user changes something.
func failed(csv *v1alpha1.ClusterServiceVersion) bool {
	if !isIn(v1alpha1.CSVPhaseFailed, csv) {
		return false
	}
	return !slices.ContainsFunc(csv.Status.TypedConditions(), func(c v1alpha1.ClusterServiceVersionCondition) bool {
		return c.Type == reconcile.TypeReconciling && c.Status == "True"
	})
}

func (v view) notRunning() string {
	return fmt.Sprintf("ClusterServiceVersion %s is %s: %s", v.installed.Name, cmp.Or(string(v.installed.Status.Phase), "new"),
		cmp.Or(tidy(v.installed.Status.Message), "not reconciled yet"))
}

// obstacle is the first thing that keeps the Subscription from what it asks for.
func (v view) obstacle() (verdict, bool) {
	waiting := v.awaited()
	switch {
	case v.idle != "":
		return verdict{stalled: true, reason: "OperatorDeleted", message: v.idle}, true
	case v.broken != "": // an OperatorGroup that is missing may be about to be created
		return verdict{stalled: len(v.state.Groups) > 0, reason: "ResolutionFailed", message: v.broken}, true
	case waiting != nil && v.pending():
		return v.planObstacle()
	case waiting != nil && v.installed == nil:
		return verdict{reason: "CatalogLoading", message: loading(waiting)}, true
	case waiting == nil && v.group != nil && v.group.Err != nil:
		return verdict{stalled: v.catalogs.condition().Status == corev1.ConditionFalse, reason: "ResolutionFailed", message: v.group.Err.Error()}, true
	case v.pending():
		return v.planObstacle()
	case v.partiallyInstalled():
		return verdict{stalled: true, reason: "InstallPlanFailed", message: fmt.Sprintf("InstallPlan %s failed after ClusterServiceVersion %s was created: %s; "+
			"something of the operator may be missing: once the cause is gone, delete both to have it reinstalled", v.plan.Name, v.installed.Name, tidy(v.plan.Status.Message))}, true
	case v.group == nil || v.choice == nil:
		return verdict{}, false
	case len(v.group.failures) > 0:
		return verdict{reason: "BundleUnpackFailed", message: v.group.failureText()}, true
	case v.group.problem != "":
		return verdict{reason: "BundleUnpackFailed", message: v.group.problem}, true
	case v.group.unwritten != "":
		return verdict{reason: "InstallPlanNotWritten", message: v.group.unwritten}, true
	case !v.planned() || v.group.waitsFor != "" || len(v.group.fetching) > 0:
		reason := "InstallPlanPending"
		if len(v.group.fetching) > 0 {
			reason = "BundleUnpacking"
		}
		return verdict{reason: reason, message: v.unplanned()}, true
	}
	return v.planObstacle()
}

// unplanned says what happens before there is a plan.
func (v view) unplanned() string {
	switch {
	case len(v.group.fetching) > 0:
		return "fetching " + strings.Join(v.group.fetching, ", ")
	case v.group.waitsFor != "":
		return fmt.Sprintf("%s is available; InstallPlan %s has to be complete first", v.choice.Bundle.Name, v.group.waitsFor)
	}
	return fmt.Sprintf("%s is available; its InstallPlan is about to be written", v.choice.Bundle.Name)
}

func (v view) planObstacle() (verdict, bool) {
	name := v.plan.Name
	switch v.plan.Status.Phase {
	case v1alpha1.InstallPlanPhaseRequiresApproval: // what already runs continues running until a user wants something newer
		message := fmt.Sprintf("InstallPlan %s would install %s; to go on: fairlead approve %s -n %s, or set its spec.approved to true",
			name, strings.Join(v.plan.Spec.ClusterServiceVersionNames, ", "), v.sub.Name, v.sub.Namespace)
		if isIn(v1alpha1.CSVPhaseFailed, v.installed) {
			return verdict{stalled: true, reason: string(v1alpha1.CSVPhaseFailed), message: v.notRunning() + "; " + message}, true
		}
		return verdict{ready: isIn(v1alpha1.CSVPhaseSucceeded, v.installed), reason: reasonRequiresApproval, message: message}, true
	case v1alpha1.InstallPlanPhaseFailed:
		return verdict{stalled: true, reason: "InstallPlanFailed", message: fmt.Sprintf("InstallPlan %s failed: %s; %s", name, tidy(v.plan.Status.Message), v.nextAttempt())}, true
	case v1alpha1.InstallPlanPhaseComplete:
		return verdict{}, false
	}
	if schedule.IsMessage(v.plan.Status.Message) { // what runs continues running
		message := fmt.Sprintf("InstallPlan %s: %s", name, tidy(v.plan.Status.Message))
		if isIn(v1alpha1.CSVPhaseFailed, v.installed) {
			return verdict{stalled: true, reason: string(v1alpha1.CSVPhaseFailed), message: v.notRunning() + "; " + message}, true
		}
		return verdict{ready: isIn(v1alpha1.CSVPhaseSucceeded, v.installed), reason: "UpgradeHeld", message: message}, true
	}
	return verdict{reason: "InstallPlanPending", message: fmt.Sprintf("InstallPlan %s is being carried out%s", name, prefixed(": ", tidy(v.plan.Status.Message)))}, true
}

// nextAttempt says when a plan that failed is followed by another one. It gives the time rather than the pause, which is partly over.
func (v view) nextAttempt() string {
	if isFinal(v.plan) {
		return "no other plan is made for the same content: it is tried again when the catalog has another version, when a tag that it names leads to another image, or when you delete the InstallPlan"
	}
	approval := v.plan.Spec.Approval
	if v.group != nil {
		approval = v.state.approval(v.group.Subscriptions)
	}
	at := failedAt(v.plan).Add(standing(v.plan)).UTC().Format(time.RFC3339)
	if approval == v1alpha1.ApprovalManual {
		return fmt.Sprintf("another one, which waits for approval, takes its place at %s, or at once when you delete it", at)
	}
	return fmt.Sprintf("it is tried again at %s, or at once when you delete it", at)
}

func (g *group) failureText() string {
	texts := make([]string, len(g.failures))
	for i, f := range g.failures {
		texts[i] = tidy(f.err.Error())
	}
	return strings.Join(texts, "; ")
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// maxText bounds, in bytes, what a status repeats of texts from outside.
const maxText = 1000

func tidy(text string) string { return messages.Line(text, maxText) }
