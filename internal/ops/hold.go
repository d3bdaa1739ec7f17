package ops

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/schedule"
)

// Annotations of a Subscription or ClusterExtension whose upgrades are held.
const (
	// HeldBeforeKey is the upgrade window that the object had before it was held; empty where it had none.
	HeldBeforeKey = "operators.fairlead.dev/upgrade-window-before-hold"
	// HeldReasonKey is why it is held, as the person who holds it has written.
	HeldReasonKey = "operators.fairlead.dev/hold-reason"
)

// held is the upgrade window of what is held.
const held = "never"

// maxHoldReason bounds the reason, in bytes.
const maxHoldReason = 1024

// Hold holds the upgrades of a Subscription or ClusterExtension, until Release: what is installed stays, and is looked after. It reports whether that
// changed anything.
func Hold(ctx context.Context, c client.Client, o client.Object, key client.ObjectKey, reason string, dryRun bool) (changed bool, err error) {
	if len(reason) > maxHoldReason {
		return false, &messages.AskedError{Lack: messages.NotFit, Text: fmt.Sprintf("hold %s: the reason has %d bytes; it may have %d", key, len(reason), maxHoldReason)}
	}
	return annotate(ctx, c, o, key, dryRun, func(is map[string]string) map[string]any {
		_, before := is[HeldBeforeKey]
		if before && is[schedule.WindowKey] == held && is[HeldReasonKey] == reason {
			return nil
		}
		change := map[string]any{schedule.WindowKey: held, HeldReasonKey: nil}
		if !before {
			change[HeldBeforeKey] = is[schedule.WindowKey]
		}
		if reason != "" {
			change[HeldReasonKey] = reason
		}
		return change
	})
}

// Release lets the upgrades of an object begin again that Hold holds, in the upgrade window that it had before. It reports whether that changed
// anything.
func Release(ctx context.Context, c client.Client, o client.Object, key client.ObjectKey, dryRun bool) (changed bool, err error) {
	return annotate(ctx, c, o, key, dryRun, func(is map[string]string) map[string]any {
		before, was := is[HeldBeforeKey]
		if !was {
			return nil
		}
		change := map[string]any{HeldBeforeKey: nil, HeldReasonKey: nil}
		if is[schedule.WindowKey] == held { // another value was set since, and counts
			change[schedule.WindowKey] = nil
			if before != "" {
				change[schedule.WindowKey] = before
			}
		}
		return change
	})
}

// annotate changes annotations of an object; no change is nil. It begins again when another client writes the object in between.
func annotate(ctx context.Context, c client.Client, o client.Object, key client.ObjectKey, dryRun bool, change func(is map[string]string) map[string]any) (changed bool, err error) {
	options := []client.PatchOption{fieldOwner}
	if dryRun {
		options = append(options, client.DryRunAll)
	}
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := c.Get(ctx, key, o); err != nil {
			return fmt.Errorf("read %T %s: %w", o, key, err)
		}
		to := change(o.GetAnnotations())
		if changed = to != nil; !changed {
			return nil
		}
		text, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": o.GetResourceVersion(), "annotations": to}})
		if err != nil {
			return err
		}
		if err := c.Patch(ctx, o, client.RawPatch(types.MergePatchType, text), options...); err != nil {
			return fmt.Errorf("change the annotations of %s: %w", key, err)
		}
		return nil
	})
	return changed, err
}
