package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/version"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// There is no field of an InstallPlan that refuses it: one that is not approved waits. What can be refused is a version, by the range of the Subscription
// or ClusterExtension that would get it; the manager then decides without it, and replaces the plan.

// MeantError says that what is to be approved or refused is not what was shown.
type MeantError struct{ Object string }

func (e *MeantError) Error() string {
	return e.Object + " has changed since it was shown, so that nothing was done: load the page again, check it once more, and decide then"
}

// Is returns an error where the plan would not do what a mark names; an empty mark is any.
func (w *WaitingPlan) Is(mark string) error {
	if mark != "" && mark != w.Mark() {
		return &MeantError{"InstallPlan " + client.ObjectKeyFromObject(w.Plan).String()}
	}
	return nil
}

// Discard deletes the plan as it was read, where it still waits. The manager makes another one of what there is now.
func (w *WaitingPlan) Discard(ctx context.Context, c client.Client, dryRun bool) error {
	key := client.ObjectKeyFromObject(w.Plan)
	uid, at := w.Plan.UID, w.Plan.ResourceVersion
	options := []client.DeleteOption{client.Preconditions{UID: &uid, ResourceVersion: &at}}
	if dryRun {
		options = append(options, client.DryRunAll)
	}
	err := c.Delete(ctx, w.Plan, options...)
	if apierrors.IsConflict(err) {
		return &MeantError{"InstallPlan " + key.String()}
	}
	if err != nil {
		return fmt.Errorf("delete InstallPlan %s, so that it is made again: %w%s", key, err, whoApproves(err))
	}
	return nil
}

// Refuse refuses a version of the plan for one of its Subscriptions, and deletes the plan, which would install it all the same when it is approved: the manager
// makes another one where something else can be installed. It returns the range that leaves the version out, and why the plan stays; empty where it does not.
func (w *WaitingPlan) Refuse(ctx context.Context, c client.Client, subscription, refused string) (within, stays string, err error) {
	key := client.ObjectKeyFromObject(w.Plan)
	within, err = RefuseForSubscription(ctx, c, client.ObjectKey{Namespace: key.Namespace, Name: subscription}, refused, false)
	if err != nil {
		return "", "", err
	}
	err = retry.OnError(retry.DefaultBackoff, apierrors.IsConflict, func() error {
		live := &v1alpha1.InstallPlan{}
		switch err := c.Get(ctx, key, live); {
		case err != nil:
			return client.IgnoreNotFound(err)
		case live.UID != w.Plan.UID: // another one took its place
			return nil
		case live.Spec.Approved:
			stays = "it was approved meanwhile"
			return nil
		}
		return client.IgnoreNotFound(c.Delete(ctx, live, client.Preconditions{UID: &live.UID, ResourceVersion: &live.ResourceVersion}))
	})
	if err != nil {
		stays = "it cannot be deleted, and installs that version when it is approved: " + err.Error()
	}
	return within, stays, nil
}

// RefuseForSubscription takes a version out of those that a Subscription may move to, and returns the range that says so.
func RefuseForSubscription(ctx context.Context, c client.Client, key client.ObjectKey, refused string, dryRun bool) (within string, err error) {
	var wrong error
	_, err = annotate(ctx, c, &v1alpha1.Subscription{}, key, dryRun, func(is map[string]string) map[string]any {
		if within, wrong = without(is[resolution.VersionRangeAnnotation], refused, " ", func(text string) error { _, err := version.ParseRange(text); return err }); wrong != nil || within == is[resolution.VersionRangeAnnotation] {
			return nil
		}
		return map[string]any{resolution.VersionRangeAnnotation: within}
	})
	if err = errors.Join(err, wrong); err != nil {
		return "", fmt.Errorf("refuse version %s for Subscription %s: %w", refused, key, err)
	}
	return within, nil
}

// RefuseForExtension takes a version out of those that a ClusterExtension asks for, and returns the range that says so.
func RefuseForExtension(ctx context.Context, c client.Client, name, refused string, dryRun bool) (within string, err error) {
	var wrong error
	change := ExtensionChange{DryRun: dryRun, Resume: func(e *olmv1.ClusterExtension) *string {
		if within, wrong = without(e.Spec.Source.Catalog.Version, refused, ", ", func(text string) error { _, err := version.ParseConstraint(text); return err }); wrong != nil {
			return nil
		}
		return &within
	}}
	_, _, err = ChangeExtension(ctx, c, name, change)
	if err = errors.Join(err, wrong); err != nil {
		return "", fmt.Errorf("refuse version %s for ClusterExtension %s: %w", refused, name, err)
	}
	return within, nil
}

// without is a range that leaves a version out, too: each of its alternatives does.
func without(within, refused, and string, parse func(text string) error) (string, error) {
	v, err := version.Parse(refused)
	if err != nil {
		return "", fmt.Errorf("read the version: %w", err)
	}
	v.Build = nil // which does not count
	not := "!=" + v.String()
	if strings.TrimSpace(within) == "" {
		return not, nil
	}
	var sides []string
	for side := range strings.SplitSeq(within, "||") {
		side = strings.TrimSpace(side)
		if !slices.Contains(strings.FieldsFunc(side, func(r rune) bool { return r == ' ' || r == ',' }), not) {
			side += and + not
		}
		sides = append(sides, side)
	}
	out := strings.Join(sides, " || ")
	if err := parse(out); err != nil {
		return "", fmt.Errorf("%w; correct the range that is there, and refuse the version then", err)
	}
	return out, nil
}
