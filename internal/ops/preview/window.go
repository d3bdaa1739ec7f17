package preview

import (
	"context"
	"fmt"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/schedule"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// windows are what says when upgrades may begin. Its zero value knows what objects say of themselves.
type windows struct {
	rules map[string]reconcile.UpgradeRules // by namespace
	// now is the time of the question; the present when nil.
	now func() time.Time
}

// readWindows reads what the cluster and some namespaces say of upgrades. Who may not read that gets a note.
func readWindows(ctx context.Context, reader client.Reader, namespaces []string) (w windows, notes []string, _ error) {
	w.rules = map[string]reconcile.UpgradeRules{}
	for _, namespace := range namespaces {
		if _, known := w.rules[namespace]; known {
			continue
		}
		rules, err := reconcile.ReadUpgradeRules(ctx, reader, namespace)
		if apierrors.IsForbidden(err) {
			notes = append(notes, messages.Unseen(err, "the rules of the cluster for upgrades",
				fmt.Sprintf("when those in namespace %s may begin is known of the annotations of its objects alone", namespace)))
			err = nil
		}
		if err != nil {
			return w, notes, err
		}
		w.rules[namespace] = rules
	}
	return w, notes, nil
}

// judge returns why an upgrade would wait now; nil where it would begin.
func (w windows) judge(namespace string, u schedule.Upgrade) *schedule.Held {
	now := time.Now
	if w.now != nil {
		now = w.now
	}
	u.Rules = w.rules[namespace].For(u.Object, u.Annotations)
	return schedule.Judge(now(), u)
}

// until is the time that holds an upgrade ends, for programs; nil where none does.
func until(held *schedule.Held) *time.Time {
	if held.Until.IsZero() {
		return nil
	}
	at := held.Until.UTC()
	return &at
}

// holder is what stands in the column for what holds an upgrade.
func holder(held *schedule.Held) string {
	if held.Until.IsZero() {
		return "upgrade window"
	}
	return "upgrade window, until " + held.Until.UTC().Format(time.RFC3339)
}

// heldByWindow reports that the next version of a Subscription waits. A person who approves plans decides when they begin.
func (p *Preview) heldByWindow(s *Standing) {
	sub := p.observed.Subscription(s.Subscription)
	if s.Next == "" || s.Installed == "" || s.Next == s.Installed || s.HeldBy != "" || sub.InstallPlanApproval() == v1alpha1.ApprovalManual {
		return
	}
	u := schedule.Upgrade{Object: v1alpha1.SubscriptionKind + " " + sub.Name, Annotations: sub.Annotations, Bundle: s.Next}
	for _, g := range p.result.Groups {
		for _, c := range g.Choices {
			if c.Bundle.Name == s.Next {
				u.Version = c.Bundle.VersionText
			}
		}
	}
	if held := p.windows.judge(p.observed.Name, u); held != nil {
		s.HeldBy, s.HeldUntil, s.holders = held.Message, until(held), []string{holder(held)}
	}
}

// heldByWindow reports that the next version of a ClusterExtension waits.
func (s *ExtensionStanding) heldByWindow(w windows, e *olmv1.ClusterExtension, version string) {
	if s.Next == "" || s.Installed == "" || s.Next == s.Installed || s.HeldBy != "" {
		return
	}
	u := schedule.Upgrade{Object: olmv1.ClusterExtensionKind + " " + e.Name, Annotations: e.Annotations, Bundle: s.Next, Version: version}
	if held := w.judge(e.Spec.Namespace, u); held != nil {
		s.HeldBy, s.HeldUntil, s.holders = held.Message, until(held), []string{holder(held)}
	}
}
