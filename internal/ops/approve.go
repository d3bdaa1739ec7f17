package ops

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// WaitingPlan is an InstallPlan that waits for approval.
type WaitingPlan struct {
	Plan *v1alpha1.InstallPlan
	// Subscription is the one that it was found by, or whose change it is; empty when there is none.
	Subscription string
}

// FindWaitingPlan finds the InstallPlan that waits for approval: that of a Subscription, or the one of the name itself.
func FindWaitingPlan(ctx context.Context, c client.Client, key client.ObjectKey) (*WaitingPlan, error) {
	sub := &v1alpha1.Subscription{}
	err := c.Get(ctx, key, sub)
	if err == nil {
		plan, err := waitingPlan(ctx, c, sub)
		if err != nil {
			return nil, err
		}
		if plan == nil {
			return nil, &messages.AskedError{Lack: messages.NotNow, Text: fmt.Sprintf("approve the change of Subscription %s: no InstallPlan of it waits for approval", key),
				Command: fmt.Sprintf("fairlead status %s -n %s shows how it is", key.Name, key.Namespace)}
		}
		return &WaitingPlan{plan, sub.Name}, nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("read Subscription %s: %w", key, err)
	}
	plan := &v1alpha1.InstallPlan{}
	switch err := c.Get(ctx, key, plan); {
	case apierrors.IsNotFound(err):
		return nil, &messages.AskedError{Lack: messages.NotThere, Text: fmt.Sprintf("approve %s: namespace %s has no Subscription and no InstallPlan of that name, and there is no such ClusterExtension", key.Name, key.Namespace),
			Command: "fairlead list -A shows what is installed"}
	case err != nil:
		return nil, fmt.Errorf("read InstallPlan %s: %w", key, err)
	case plan.Spec.Approved:
		return nil, &messages.AskedError{Lack: messages.NotNow, Text: fmt.Sprintf("approve InstallPlan %s: it is approved already, and is %s", key, cmp.Or(string(plan.Status.Phase), "new"))}
	case plan.Status.Phase != v1alpha1.InstallPlanPhaseRequiresApproval:
		return nil, &messages.AskedError{Lack: messages.NotNow, Text: fmt.Sprintf("approve InstallPlan %s: it does not wait for approval, it is %s", key, cmp.Or(string(plan.Status.Phase), "new"))}
	}
	out := &WaitingPlan{Plan: plan}
	var subs v1alpha1.SubscriptionList
	if err := c.List(ctx, &subs, client.InNamespace(key.Namespace)); err != nil {
		return nil, fmt.Errorf("find the Subscription of InstallPlan %s: %w", key, err)
	}
	for i := range subs.Items {
		if ref := subs.Items[i].Status.InstallPlanRef; ref != nil && ref.Name == plan.Name && out.Subscription == "" {
			out.Subscription = subs.Items[i].Name
		}
	}
	return out, nil
}

// Approve approves the plan as it was read: one that has changed since is not.
func (w *WaitingPlan) Approve(ctx context.Context, c client.Client, dryRun bool) error {
	options := []client.PatchOption{fieldOwner}
	if dryRun {
		options = append(options, client.DryRunAll)
	}
	key, live := client.ObjectKeyFromObject(w.Plan), w.Plan.DeepCopy()
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		err := patch(ctx, c, live, map[string]any{"approved": true}, options)
		if err == nil {
			return nil
		}
		err = fmt.Errorf("approve InstallPlan %s: %w%s", key, err, whoApproves(err))
		if !apierrors.IsConflict(err) {
			return err
		}
		if err := c.Get(ctx, key, live); err != nil {
			return fmt.Errorf("read InstallPlan %s: %w", key, err)
		}
		if is := live.Spec.ClusterServiceVersionNames; live.UID != w.Plan.UID || !slices.Equal(is, w.Plan.Spec.ClusterServiceVersionNames) {
			return &messages.AskedError{Lack: messages.NotNow, Text: fmt.Sprintf("approve InstallPlan %s: it has changed meanwhile, and installs %v", key, is), Command: "see it with fairlead plan show, and approve it again"}
		}
		return err
	})
}

// whoApproves says who may approve what the user may not.
func whoApproves(err error) string {
	if !apierrors.IsForbidden(err) {
		return ""
	}
	return "; to approve decides over what is installed, and is left to those who may patch InstallPlans: ask an administrator of the cluster"
}

// Describe names the plan, with what it installs.
func (w *WaitingPlan) Describe() string { return describe(w.Plan) }

// Advice is what the manager says of approving the plan: that it or its operators would fail, or that an API goes which is served. It is empty where nothing
// is known to speak against it.
func (w *WaitingPlan) Advice() string {
	if !v1alpha1.IsApprovalAdvice(w.Plan.Status.Message) {
		return ""
	}
	return w.Plan.Status.Message
}

// WaitingPermissions returns the digest of the permissions that an upgrade of a ClusterExtension asks for, and the text that lists them.
func WaitingPermissions(ctx context.Context, c client.Reader, name string) (digest, text string, err error) {
	e := &olmv1.ClusterExtension{}
	if err := c.Get(ctx, client.ObjectKey{Name: name}, e); err != nil {
		return "", "", fmt.Errorf("read ClusterExtension %s: %w", name, err)
	}
	is := meta.FindStatusCondition(e.Status.Conditions, olmv1.TypeProgressing)
	if is == nil || is.ObservedGeneration != e.Generation {
		return "", "", &messages.AskedError{Lack: messages.NotNow, Text: fmt.Sprintf("approve the upgrade of ClusterExtension %s: the manager has not reconciled it yet", name), Command: "try again in a moment"}
	}
	digest, ok := revision.AskedPermissions(is.Message)
	if !ok {
		return "", "", &messages.AskedError{Lack: messages.NotNow, Text: fmt.Sprintf("approve the upgrade of ClusterExtension %s: no upgrade of it waits for permissions", name), Command: "fairlead status " + name + " shows how it is"}
	}
	return digest, is.Message, nil
}
