package clusterextension

import (
	"cmp"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// passing are the conflicts that another object may end, which need not be changed but may still come: a catalog or a dependency.
var passing = []resolution.Reason{resolution.NoCatalog, resolution.CatalogUnavailable, resolution.DependencyMissing}

// reasonUnresolved is the reason of Ready where no bundle can be had, for a cause that has no word of its own.
const reasonUnresolved = "ResolutionFailed"

// judge adds the verdict on an extension to what is to be reported of it otherwise. Ready is for the newest bundle that the spec allows: while an
// upgrade rolls out, the extension is not ready, although what was installed before works.
func (v view) judge(next *olmv1.ClusterExtensionStatus, stamp metav1.Time) {
	o := v.outcome
	stands := o.waits && o.problem == nil && o.made == nil // nothing new was decided of this generation
	if stands && meta.IsStatusConditionTrue(next.Conditions, reconcile.TypeStalled) && next.ObservedGeneration == v.ext.Generation {
		return
	}
	next.ObservedGeneration = v.ext.Generation
	verdict := v.verdict(next)
	verdict.Message = messages.Brief(verdict.Message)
	verdict.Set(&next.Conditions, v.ext.Generation, stamp)
}

func (v view) verdict(next *olmv1.ClusterExtensionStatus) reconcile.Verdict {
	o := v.outcome
	progressing, available := meta.FindStatusCondition(next.Conditions, olmv1.TypeProgressing), meta.FindStatusCondition(next.Conditions, olmv1.TypeAvailable)
	switch {
	case progressing == nil:
		return reconcile.Progressing(olmv1.ReasonReconciling, "the catalogs are being loaded")
	case o.lost != nil:
		return reconcile.Unknown(progressing.Reason, progressing.Message)
	case o.leaving:
		return reconcile.Progressing(progressing.Reason, progressing.Message)
	case progressing.Status == metav1.ConditionFalse:
		return reconcile.Stalled(progressing.Reason, progressing.Message)
	case o.conflict != nil && o.problem == nil:
		reason := cmp.Or(string(o.conflict.Reason), reasonUnresolved)
		if len(o.conflict.Unavailable) > 0 || slices.Contains(passing, o.conflict.Reason) {
			return reconcile.Progressing(reason, progressing.Message)
		}
		return reconcile.Stalled(reason, progressing.Message)
	case revision.Collides(progressing):
		return reconcile.Stalled(revision.ReasonCollision, progressing.Message)
	case progressing.Reason != olmv1.ReasonSucceeded:
		return reconcile.Progressing(progressing.Reason, progressing.Message)
	case next.Install == nil:
		return reconcile.Progressing(olmv1.ReasonAbsent, nothingInstalled)
	case available == nil:
		return reconcile.Progressing(olmv1.ReasonReconciling, "bundle "+next.Install.Bundle.Name+" is installed; its objects are not checked yet")
	case available.Status != metav1.ConditionTrue:
		return reconcile.Progressing(available.Reason, available.Message)
	}
	return reconcile.Done(olmv1.ReasonSucceeded, "bundle "+next.Install.Bundle.Name+" is installed and available")
}
