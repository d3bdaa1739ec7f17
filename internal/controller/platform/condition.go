package platform

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/internal/platform"
	"fairlead.dev/fairlead/internal/reconcile"
)

// upgradeable is the type of the condition.
const upgradeable = "Upgradeable"

// write sets the condition, and leaves the others, which are another client's, as they are. It writes nothing when nothing has changed.
func (c *Controller) write(ctx context.Context, operator *unstructured.Unstructured, verdict platform.Verdict) error {
	conditions, _, err := unstructured.NestedSlice(operator.Object, "status", "conditions")
	if err != nil {
		return fmt.Errorf("read status.conditions of ClusterOperator %s: %w", operatorName, err)
	}
	conditions, changed := withCondition(conditions, verdict, c.clock.Now())
	if !changed {
		return nil
	}
	patched := operator.DeepCopy()
	if err := unstructured.SetNestedSlice(patched.Object, conditions, "status", "conditions"); err != nil {
		return fmt.Errorf("set the condition %s of ClusterOperator %s: %w", upgradeable, operatorName, err)
	}
	// The list is written as a whole, so no one may have changed it since.
	patch := client.MergeFromWithOptions(operator, client.MergeFromWithOptimisticLock{})
	err = c.client.Status().Patch(ctx, patched, patch, fieldOwner)
	switch {
	case gone(err):
		return nil
	case err != nil:
		return fmt.Errorf("write the condition %s of ClusterOperator %s: %w", upgradeable, operatorName, err)
	}
	reconcile.Log(ctx, operator).Info("status changed", "type", upgradeable, "status", verdict.Upgradeable, "reason", verdict.Reason, "message", verdict.Message)
	return nil
}

// withCondition puts a verdict into conditions, and reports whether that changes anything.
func withCondition(conditions []any, verdict platform.Verdict, now time.Time) ([]any, bool) {
	status := "False"
	if verdict.Upgradeable {
		status = "True"
	}
	desired := map[string]any{
		"type": upgradeable, "status": status, "reason": verdict.Reason, "message": verdict.Message,
		"lastTransitionTime": now.UTC().Format(time.RFC3339),
	}
	for i, condition := range conditions {
		existing, ok := condition.(map[string]any)
		if !ok || existing["type"] != upgradeable {
			continue
		}
		if existing["status"] == status {
			if existing["reason"] == verdict.Reason && existing["message"] == verdict.Message {
				return conditions, false
			}
			if since, ok := existing["lastTransitionTime"].(string); ok {
				desired["lastTransitionTime"] = since
			}
		}
		conditions[i] = desired
		return conditions, true
	}
	return append(conditions, desired), true
}
