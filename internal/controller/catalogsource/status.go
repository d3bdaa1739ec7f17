package catalogsource

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/reconcile"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The Ready condition is the one verdict on a CatalogSource. It is True as long as content is served, be it the last good one.
const (
	reasonServing  = "Serving"
	reasonProblems = "ServingWithProblems"
	reasonLastGood = "ServingLastGoodContent"
	reasonLoading  = "Loading"
)

// report is what a status is made of.
type report struct {
	known     content
	offered   offer
	connected linkState
	image     template
}

// status says what is known of the catalog. It changes nothing that it has nothing new to say about.
func status(source *v1alpha1.CatalogSource, r report, now time.Time) v1alpha1.CatalogSourceStatus {
	known, offered := r.known, r.offered
	next := *source.Status.DeepCopy()
	next.Reason, next.Message = reasonAndMessage(source, known, offered)
	next.Message = messages.Brief(next.Message)
	next.RegistryServiceStatus = registryService(source, known, offered)
	next.GRPCConnectionState = connection(source, known, offered, r.connected)
	switch old, read := source.Status.ConfigMapResource, known.configMap; {
	case !isConfigMap(source) || known.invalid != nil:
		next.ConfigMapResource = nil
	case read != nil && (old == nil || old.UID != read.UID || old.ResourceVersion != read.ResourceVersion || old.Name != read.Name):
		next.ConfigMapResource = read // otherwise the time is that of the last change
	}
	ready := readiness(known, offered)
	if next.Reason == v1alpha1.CatalogSourceIntervalInvalidError && ready.Status == metav1.ConditionTrue {
		ready.Message += "; the interval of polls is another than was asked for (" + next.Message + "): write a duration such as 10m or 1h"
	}
	ready.Message = messages.Brief(ready.Message)
	next.ObservedGeneration = source.Generation
	verdictOf(source, known, ready).Set(&next.Conditions, source.Generation, *stamp(now))
	switch c := known.signatures.Condition(known.index != nil); {
	case c != nil:
		c.Message, c.ObservedGeneration, c.LastTransitionTime = messages.Brief(c.Message), source.Generation, *stamp(now)
		meta.SetStatusCondition(&next.Conditions, *c)
	case !known.signatures.Pending: // otherwise what was reported last stands until it is verified again
		meta.RemoveStatusCondition(&next.Conditions, v1alpha1.CatalogSourceSignatureVerified)
	}
	r.image.report(&next.Conditions, source.Generation, now)
	if pollsImage(source) && known.invalid == nil && !known.asked.IsZero() {
		// With a short interval nearly every write would be for the time of the last poll alone.
		reported := source.Status.LatestImageRegistryPoll
		if reported == nil || known.asked.Sub(reported.Time) >= pollsReported || !equality.Semantic.DeepEqual(source.Status, next) {
			next.LatestImageRegistryPoll = later(reported, known.asked)
		}
	}
	return next
}

// pollsReported is how often polls are reported at most that found nothing new.
const pollsReported = time.Minute

func reasonAndMessage(source *v1alpha1.CatalogSource, known content, offered offer) (v1alpha1.ConditionReason, string) {
	switch {
	case known.invalid != nil:
		return v1alpha1.CatalogSourceSpecInvalidError, messages.Error(known.invalid)
	case known.problem != nil:
		return reasonOf(known.problem), messages.Error(known.problem)
	case offered.err != nil:
		return v1alpha1.CatalogSourceRegistryServerError, messages.Error(offered.err)
	}
	if known.index == nil && offered.waiting != "" {
		return "", offered.waiting
	}
	if wrong := intervalProblem(source); wrong != "" {
		return v1alpha1.CatalogSourceIntervalInvalidError, wrong
	}
	if known.outdated() {
		return "", "" // what is wrong with other content than is asked for need not be mended
	}
	return "", known.remarks()
}

// reasonOf is the documented reason for a problem.
func reasonOf(problem error) v1alpha1.ConditionReason {
	if errors.As(problem, &configMapError{}) {
		return v1alpha1.CatalogSourceConfigMapError
	}
	return v1alpha1.CatalogSourceRegistryServerError
}

func readiness(known content, offered offer) metav1.Condition {
	switch {
	case known.invalid != nil:
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: string(v1alpha1.CatalogSourceSpecInvalidError), Message: messages.Error(known.invalid)}
	case known.outdated():
		// The verdict while something else is served than is asked for: clients and Subscriptions have content, but not the desired.
		c := metav1.Condition{Status: metav1.ConditionUnknown, Reason: reasonLoading}
		meanwhile := fmt.Sprintf("the content of %s, loaded at %s, is still served", known.served, known.loaded.UTC().Format(time.RFC3339))
		switch {
		case known.problem != nil:
			c.Status, c.Reason = metav1.ConditionFalse, string(reasonOf(known.problem))
			c.Message = fmt.Sprintf("%s, because that of %s cannot be had: %s", meanwhile, known.desired, messages.Error(known.problem))
		case offered.err != nil:
			c.Status, c.Reason = metav1.ConditionFalse, string(v1alpha1.CatalogSourceRegistryServerError)
			c.Message = fmt.Sprintf("%s, because that of %s cannot be had: %s", meanwhile, known.desired, messages.Error(offered.err))
		case offered.waiting != "":
			c.Message = fmt.Sprintf("%s while that of %s is being loaded: %s", meanwhile, known.desired, offered.waiting)
		default:
			c.Message = fmt.Sprintf("%s while that of %s is being loaded", meanwhile, known.desired)
		}
		return c
	case known.problem != nil && known.index != nil:
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: reasonLastGood,
			Message: fmt.Sprintf("serving the content loaded at %s, because newer content cannot be had: %s", known.loaded.UTC().Format(time.RFC3339), messages.Error(known.problem))}
	case known.problem != nil:
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: string(reasonOf(known.problem)), Message: messages.Error(known.problem)}
	case known.index == nil:
		c := metav1.Condition{Status: metav1.ConditionFalse, Reason: reasonLoading, Message: "the catalog is being loaded"}
		if offered.err != nil {
			c.Reason, c.Message = string(v1alpha1.CatalogSourceRegistryServerError), messages.Error(offered.err)
		} else if offered.waiting != "" {
			c.Message += ": " + offered.waiting
		}
		return c
	case offered.waiting != "":
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: reasonLastGood,
			Message: fmt.Sprintf("serving the content loaded at %s: %s", known.loaded.UTC().Format(time.RFC3339), offered.waiting)}
	case offered.err != nil:
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: reasonProblems,
			Message: fmt.Sprintf("the content is used for resolution, but clients may not reach it: %s", messages.Error(offered.err))}
	case known.remarks() != "":
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: reasonProblems, Message: known.remarks()}
	}
	return metav1.Condition{Status: metav1.ConditionTrue, Reason: reasonServing,
		Message: fmt.Sprintf("serving %d packages of %s", len(known.index.PackageNames()), known.digest)}
}

// verdictOf is the verdict that a readiness makes, with what is in the way: a spec, an image name, a policy or an image by digest stays what it is until
// a user changes something, and a registry may answer again.
func verdictOf(source *v1alpha1.CatalogSource, known content, ready metav1.Condition) reconcile.Verdict {
	switch {
	case ready.Status == metav1.ConditionTrue:
		return reconcile.Done(ready.Reason, ready.Message)
	case ready.Status == metav1.ConditionUnknown:
		return reconcile.Unknown(ready.Reason, ready.Message)
	case known.invalid != nil, isFinal(source.Spec.Image, known.problem):
		return reconcile.Stalled(ready.Reason, ready.Message)
	}
	return reconcile.Progressing(ready.Reason, ready.Message)
}

// isFinal reports whether reading an image again does not help.
func isFinal(ref string, problem error) bool {
	if problem == nil {
		return false
	}
	switch image.KindOf(problem) {
	case image.InvalidReference:
		return true
	case image.InvalidImage, image.NoPlatform, image.LimitExceeded:
		return strings.Contains(ref, "@")
	}
	return image.IsUnverified(problem)
}

// later is a time, unless a later one is known: managers side by side each read the content, and must not correct each other.
func later(known *metav1.Time, t time.Time) *metav1.Time {
	if known != nil && known.After(t) {
		return known
	}
	return stamp(t)
}

// stamp is a time as the API server keeps it.
func stamp(t time.Time) *metav1.Time {
	return &metav1.Time{Time: t.Truncate(time.Second)}
}
