package installplan

import (
	"errors"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/claims"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// stepResult is what a pass came to for one step.
type stepResult struct {
	status   v1alpha1.StepStatus
	err      error
	waiting  string
	warnings []string
	obstacle *obstacle
}

// record adopts the result of the apply engine. A finished step stays what it is called: another pass, after one whose status was
// lost, comes to the same.
func (s *stepRun) record(r rollout.ObjectResult, plan *v1alpha1.InstallPlan) {
	s.result.warnings = r.Warnings
	if s.taken != "" {
		s.result.warnings = append(s.result.warnings, s.taken)
	}
	if r.Outcome != rollout.Created && r.Outcome != rollout.Configured {
		s.result.warnings = nil // they were reported when the object was written
	}
	s.result.waiting = r.Waiting
	if r.Err == nil {
		// The object came into being for the plan where this controller has made it since the plan exists.
		made := r.Live != nil && !r.Live.GetCreationTimestamp().Time.Before(plan.CreationTimestamp.Time) && claims.IsWrittenBy(r.Live, fieldOwner)
		switch {
		case r.Outcome == rollout.NotAttempted:
		case r.Waiting != "":
			s.result.status = v1alpha1.StepStatusWaitingForAPI
		case r.Outcome == rollout.Created || s.step.Status == v1alpha1.StepStatusWaitingForAPI || made:
			s.result.status = v1alpha1.StepStatusCreated
		default:
			s.result.status = v1alpha1.StepStatusPresent
		}
		return
	}
	var unknown *rollout.UnknownKindError
	isUnknown := errors.As(r.Err, &unknown)
	if isUnknown {
		gvk := r.Ref.GroupVersionKind
		r.Err = fmt.Errorf("api-server resource not found installing %s %s: GroupVersionKind %s not found on the cluster. "+
			"This API may have been removed from Kubernetes, see https://kubernetes.io/docs/reference/using-api/deprecation-guide/, "+
			"or what provides it is not installed: %w", gvk.Kind, r.Ref.Name, gvk, r.Err)
	}
	switch {
	case s.step.Optional, isUnknown && s.spared:
		s.result.status = v1alpha1.StepStatusNotCreated
		s.result.warnings = append(s.result.warnings, r.Err.Error())
		return
	case s.step.Status == v1alpha1.StepStatusWaitingForAPI:
	case r.Live == nil && r.Outcome != rollout.NotAttempted:
		s.result.status = v1alpha1.StepStatusNotPresent
	}
	s.result.err = r.Err
	s.meet(r)
}

// outcome sums the pass up.
func (x *execution) outcome() outcome {
	done := outcome{executed: true, warnings: map[int][]string{}}
	var failures rollout.Failures
	if x.err != nil {
		failures = append(failures, x.err)
	}
	var waiting, leftOut []string
	done.lookups, done.signatures, done.unverified = x.manifests.missing, x.verifier.signatures, x.verifier.unverified
	for i, s := range x.steps {
		done.statuses = append(done.statuses, s.result.status)
		said := func(f error) bool { return f.Error() == s.result.err.Error() } // as by all steps of a bundle that is not there
		if s.result.err != nil && !slices.ContainsFunc(failures, said) {
			failures = append(failures, s.result.err)
		}
		if s.result.waiting != "" && !slices.Contains(waiting, s.result.waiting) {
			waiting = append(waiting, s.result.waiting)
		}
		if s.result.status == v1alpha1.StepStatusNotCreated {
			leftOut = append(leftOut, fmt.Sprintf("%s %s", s.step.Resource.Kind, s.step.Resource.Name))
		}
		if s.result.obstacle != nil && len(done.obstacles) < maxObstacles {
			s.result.obstacle.wants = x.Wants
			done.obstacles = append(done.obstacles, *s.result.obstacle)
		}
		if len(s.result.warnings) > 0 {
			done.warnings[i] = s.result.warnings
		}
	}
	if len(failures) > 0 {
		done.err, done.forbidden, done.away = failures, slices.ContainsFunc(failures, apierrors.IsForbidden), reconcile.IsTransient(failures)
		done.unwritable = slices.ContainsFunc(failures, func(err error) bool { // no attempt will ever succeed
			return rollout.IsTooLarge(err) || errors.Is(err, bundle.ErrUnwritable)
		})
	}
	done.waiting = list(waiting)
	if len(leftOut) > 0 {
		done.leftOut = "left out, because the operator does without: " + list(leftOut)
	}
	return done
}

// listed is how many texts a message has room for.
const listed = 5

func list(texts []string) string { return safetext.List(texts, listed, "; ") }
