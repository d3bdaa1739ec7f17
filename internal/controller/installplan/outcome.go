package installplan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// stepResult is what a pass came to for one step.
type stepResult struct {
	status   v1alpha1.StepStatus
	err      error
	waiting  string
	warnings []string
	obstacle *obstacle
}

func (r *stepResult) fail(err error) { r.err = err }

// record takes over the result of the apply engine. A finished step stays what it is called: another pass, after one whose status was
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
	if r.Err != nil {
		s.recordError(r)
		return
	}
	switch {
	case r.Outcome == rollout.NotAttempted:
	case r.Waiting != "":
		s.result.status = v1alpha1.StepStatusWaitingForAPI
	case r.Outcome == rollout.Created || s.step.Status == v1alpha1.StepStatusWaitingForAPI || madeFor(plan, r.Live):
		s.result.status = v1alpha1.StepStatusCreated
	default:
		s.result.status = v1alpha1.StepStatusPresent
	}
}

func (s *stepRun) recordError(r rollout.ObjectResult) {
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
	s.result.fail(r.Err)
	s.meet(r)
}

// madeFor tells whether an object came into being for the plan: made by this controller, since the plan exists.
func madeFor(plan *v1alpha1.InstallPlan, live *unstructured.Unstructured) bool {
	if live == nil || live.GetCreationTimestamp().Time.Before(plan.CreationTimestamp.Time) {
		return false
	}
	for _, entry := range live.GetManagedFields() {
		if entry.Manager == fieldOwner {
			return true
		}
	}
	return false
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
		if s.result.err != nil && !isAmong(failures, s.result.err) {
			failures = append(failures, s.result.err)
		}
		if s.result.waiting != "" && !slices.Contains(waiting, s.result.waiting) {
			waiting = append(waiting, s.result.waiting)
		}
		if s.result.status == v1alpha1.StepStatusNotCreated {
			leftOut = append(leftOut, fmt.Sprintf("%s %s", s.step.Resource.Kind, s.step.Resource.Name))
		}
		if s.result.obstacle != nil && len(done.obstacles) < maxObstacles {
			s.result.obstacle.wants = x.wants
			done.obstacles = append(done.obstacles, *s.result.obstacle)
		}
		if len(s.result.warnings) > 0 {
			done.warnings[i] = s.result.warnings
		}
	}
	if len(failures) > 0 {
		done.err, done.forbidden, done.away = failures, slices.ContainsFunc(failures, apierrors.IsForbidden), reconcile.IsTransient(failures)
		done.unwritable = slices.ContainsFunc(failures, isUnwritable)
	}
	done.waiting = list(waiting)
	if len(leftOut) > 0 {
		done.leftOut = "left out, because the operator does without: " + list(leftOut)
	}
	return done
}

// isUnwritable reports whether an error means that no attempt will ever succeed.
func isUnwritable(err error) bool {
	return rollout.IsTooLarge(err) || errors.Is(err, bundle.ErrUnwritable)
}

// isAmong tells whether an error says what another one says already, as all steps of a bundle that is not there do.
func isAmong(failures rollout.Failures, err error) bool {
	return slices.ContainsFunc(failures, func(f error) bool { return f.Error() == err.Error() })
}

// listed is how many texts a message has room for.
const listed = 5

func list(texts []string) string {
	if more := len(texts) - listed; more > 0 {
		texts = append(texts[:listed:listed], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}
