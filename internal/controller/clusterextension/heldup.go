package clusterextension

import (
	"errors"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/rollout/permissions"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"k8s.io/apimachinery/pkg/api/meta"
)

// What holds an upgrade up, as metrics tell it: few words, which say whose turn it is. Where none of them fits, it is the reason of the
// condition Progressing.
const (
	heldByCatalogs    = "Unresolvable"
	heldByDefinitions = "CustomResourceDefinitions"
	heldByAccount     = "Permissions"
	heldByIncrease    = "MorePermissions"
	heldByOperator    = "NotUpgradeable"
	heldBySignature   = "Unverified"
)

// heldReasons are all of them.
var heldReasons = []string{heldByCatalogs, heldByDefinitions, heldByAccount, heldByIncrease, heldByOperator, heldBySignature,
	olmv1.ReasonBlocked, olmv1.ReasonInvalidConfiguration, olmv1.ReasonRetrying, olmv1.ReasonProgressDeadlineExceeded}

// heldUp is why an extension that has something installed does not get what it is to have; empty when it does, or may yet.
func heldUp(ext *olmv1.ClusterExtension, o *outcome) string {
	progressing := meta.FindStatusCondition(ext.Status.Conditions, olmv1.TypeProgressing)
	if ext.Status.Install == nil || progressing == nil || o.leaving {
		return ""
	}
	var stop *revision.Refusal
	switch {
	case errors.As(o.problem, new(*crd.UnsafeError)):
		return heldByDefinitions
	case errors.As(o.problem, new(*permissions.Lacking)):
		return heldByAccount
	case errors.As(o.problem, new(*revision.IncreaseError)):
		return heldByIncrease
	case errors.As(o.problem, new(*revision.NotUpgradeable)):
		return heldByOperator
	case image.IsUnverified(o.problem):
		return heldBySignature
	case errors.As(o.problem, &stop):
		return stop.Reason
	case o.conflict != nil:
		return heldByCatalogs
	case progressing.Reason == olmv1.ReasonSucceeded || progressing.Reason == olmv1.ReasonRollingOut:
		return ""
	}
	return progressing.Reason
}
