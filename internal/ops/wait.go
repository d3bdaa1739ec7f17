package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pollInterval is how often the Subscription is checked while waiting.
const pollInterval = 200 * time.Millisecond

// StoppedError says that nothing more happens to an object until a user changes something.
type StoppedError struct {
	// Object names it, with its kind.
	Object          string
	Reason, Message string
}

func (e *StoppedError) Error() string {
	return fmt.Sprintf("%s: %s: %s", e.Object, e.Reason, e.Message)
}

// settle is how long a wait believes in a change of what it found stopped when it began: its cause may just have been removed.
const settle = 5 * time.Second

// finding is what a wait found when it began, and for how many polls it has stayed.
type finding struct {
	begun bool
	text  string
	polls int
}

// believe reports whether a reason why nothing more happens is to be believed: one that came while the command waits at once, and one that was there before
// once it has lasted. Empty is for no reason.
func (f *finding) believe(text string) bool {
	if !f.begun {
		f.begun, f.text = true, text
	}
	if text == "" || text != f.text {
		f.text = ""
		return text != ""
	}
	f.polls++
	return f.polls > int(settle/pollInterval)
}

// WaitPackage returns when the operator of the Subscription runs. Whenever the reason why it does not changes, tell is called with it. When the
// context ends first, the error says what the last reason was. Where nothing more happens by itself it ends at once: with a *StoppedError, or with
// a *WaitsError when a plan waits for approval.
func WaitPackage(ctx context.Context, reader client.Reader, key client.ObjectKey, tell func(reason, message string)) (csv string, err error) {
	last := v1alpha1.SubscriptionCondition{Message: "Subscription not reconciled yet; is the manager running?"}
	var found finding
	for {
		var sub v1alpha1.Subscription
		if err := reader.Get(ctx, key, &sub); err != nil && !over(ctx) {
			return "", fmt.Errorf("get Subscription %s: %w", key, err)
		}
		ready := sub.Status.GetCondition("Ready")
		if ready.Status == "True" {
			return sub.Status.InstalledCSV, nil
		}
		err := stopped(ctx, reader, &sub, ready)
		if halt := (*StoppedError)(nil); err == nil {
			found.believe("")
		} else if !errors.As(err, &halt) || found.believe(halt.Error()) {
			return "", err
		}
		if ready.Message != "" && !ready.Equals(last) {
			last = ready
			if !approvedSince(ready) {
				tell(ready.Reason, ready.Message)
			}
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("wait for Subscription %s: it is not ready: %s", key, last.Message)
		case <-time.After(pollInterval):
		}
	}
}

// stopped is why nothing more happens to a Subscription by itself; nil where something may. What it says of an older spec does not count.
func stopped(ctx context.Context, reader client.Reader, sub *v1alpha1.Subscription, ready v1alpha1.SubscriptionCondition) error {
	key := client.ObjectKeyFromObject(sub)
	switch {
	case sub.Status.ObservedGeneration < sub.Generation:
		return nil
	case sub.Status.GetCondition(reconcile.TypeStalled).Status == "True":
		return &StoppedError{"Subscription " + key.String(), ready.Reason, ready.Message}
	case ready.Reason == string(v1alpha1.InstallPlanPhaseRequiresApproval):
		if plan, err := waitingPlan(ctx, reader, sub); plan != nil && err == nil {
			return &WaitsError{Subscription: key, Plan: describe(plan)}
		}
	}
	return nil
}

// approvedSince reports whether a condition waits for an approval that a wait has found to be given.
func approvedSince(ready v1alpha1.SubscriptionCondition) bool {
	return ready.Reason == string(v1alpha1.InstallPlanPhaseRequiresApproval)
}

// upgradeHeld is the reason of Ready of a Subscription whose upgrade waits for its window.
const upgradeHeld = "UpgradeHeld"

// over says whether the time is up. A context hears of its deadline a little after others that compare it with the clock themselves, such as
// the limit that a client keeps to, and give up with an error of their own: that must not be told in place of what was waited for.
func over(ctx context.Context) bool {
	deadline, limited := ctx.Deadline()
	return ctx.Err() != nil || limited && !time.Now().Before(deadline)
}

// WaitsError says that a plan waits for approval, so that nothing more happens by itself.
type WaitsError struct {
	Subscription client.ObjectKey
	// Plan names it, with what it installs.
	Plan string
}

func (w *WaitsError) Error() string {
	return fmt.Sprintf("Subscription %s: %s, waits for approval: %s", w.Subscription, w.Plan, ApproveCommand(w.Subscription))
}

// ApproveCommand approves the plan of a Subscription that waits for that.
func ApproveCommand(key client.ObjectKey) string {
	return fmt.Sprintf("fairlead approve %s -n %s", key.Name, key.Namespace)
}

// HeldError says that an upgrade waits for its window. It begins by itself then, which may be in weeks.
type HeldError struct {
	Subscription client.ObjectKey
	// Message is what its status reports.
	Message string
}

func (h *HeldError) Error() string {
	return fmt.Sprintf("upgrade of Subscription %s: %s", h.Subscription, h.Message)
}

// WaitUpgrade is Wait for a Subscription that had an operator before: it returns when its newest version runs. A plan for
// what it is to become that waits for approval ends it, as a *WaitsError, and one that waits for its window as a *HeldError.
func WaitUpgrade(ctx context.Context, c client.Client, key client.ObjectKey, tell func(reason, message string)) (csv string, err error) {
	last := v1alpha1.SubscriptionCondition{Message: "Subscription not reconciled since it was changed; is the manager running?"}
	for {
		var sub v1alpha1.Subscription
		if err := c.Get(ctx, key, &sub); err != nil && !over(ctx) {
			return "", fmt.Errorf("get Subscription %s: %w", key, err)
		}
		ready, current := sub.Status.GetCondition("Ready"), sub.Status.ObservedGeneration >= sub.Generation
		if current && ready.Status == "True" && sub.Status.InstalledCSV == sub.Status.CurrentCSV {
			return sub.Status.InstalledCSV, nil
		}
		if plan, err := waitingPlan(ctx, c, &sub); current && plan != nil && err == nil && slices.Contains(plan.Spec.ClusterServiceVersionNames, sub.Status.CurrentCSV) {
			return "", &WaitsError{Subscription: key, Plan: describe(plan)}
		}
		if current && ready.Reason == upgradeHeld {
			return "", &HeldError{Subscription: key, Message: ready.Message}
		}
		if current && ready.Message != "" && !ready.Equals(last) {
			last = ready
			if !approvedSince(ready) {
				tell(ready.Reason, ready.Message)
			}
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("wait for Subscription %s: it is not ready: %s", key, last.Message)
		case <-time.After(pollInterval):
		}
	}
}
