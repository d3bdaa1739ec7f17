package catalogsource

import (
	"fmt"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"

	"google.golang.org/grpc/connectivity"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The Ready condition is the one verdict on a CatalogSource. It is True as long as content is served, be it the last good one.
const (
	conditionReady     = "Ready"
	reasonServing      = "Serving"
	reasonProblems     = "ServingWithProblems"
	reasonLastGood     = "ServingLastGoodContent"
	maxMessageProblems = 3
)

// status says what is known of the catalog. It changes nothing that it has nothing new to say about.
func status(source *v1alpha1.CatalogSource, known content) v1alpha1.CatalogSourceStatus {
	next := *source.Status.DeepCopy()
	next.Reason, next.Message = reasonAndMessage(source, known)
	next.GRPCConnectionState = connection(source, known)
	if _, polls := pollInterval(source); polls && !known.looked.IsZero() {
		next.LatestImageRegistryPoll = stamp(known.looked)
	}
	ready := readiness(known)
	ready.Type, ready.ObservedGeneration = conditionReady, source.Generation
	ready.LastTransitionTime = *stamp(known.looked)
	meta.SetStatusCondition(&next.Conditions, ready)
	return next
}

func reasonAndMessage(source *v1alpha1.CatalogSource, known content) (v1alpha1.ConditionReason, string) {
	switch {
	case known.invalid != nil:
		return v1alpha1.CatalogSourceSpecInvalidError, known.invalid.Error()
	case known.problem != nil:
		return v1alpha1.CatalogSourceRegistryServerError, known.problem.Error()
	}
	if s := source.Spec.UpdateStrategy; s != nil && s.RegistryPoll != nil && s.RegistryPoll.ParsingError != "" {
		return v1alpha1.CatalogSourceIntervalInvalidError, s.RegistryPoll.ParsingError
	}
	return "", known.warnings
}

// connection keeps the documented states: READY while there is content, TRANSIENT_FAILURE while there is none to be had.
func connection(source *v1alpha1.CatalogSource, known content) *v1alpha1.GRPCConnectionState {
	state := connectivity.Connecting
	switch {
	case known.index != nil:
		state = connectivity.Ready
	case known.invalid != nil:
		return nil
	case known.problem != nil:
		state = connectivity.TransientFailure
	}
	next := &v1alpha1.GRPCConnectionState{LastObservedState: state.String()}
	if known.index != nil {
		next.LastConnectTime = *stamp(known.loaded)
	} else if old := source.Status.GRPCConnectionState; old != nil {
		next.LastConnectTime = old.LastConnectTime
	}
	return next
}

func readiness(known content) metav1.Condition {
	switch {
	case known.invalid != nil:
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: string(v1alpha1.CatalogSourceSpecInvalidError), Message: known.invalid.Error()}
	case known.problem != nil && known.index != nil:
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: reasonLastGood,
			Message: fmt.Sprintf("serving the content loaded at %s, because newer content cannot be had: %s", known.loaded.UTC().Format(time.RFC3339), known.problem)}
	case known.problem != nil:
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: string(v1alpha1.CatalogSourceRegistryServerError), Message: known.problem.Error()}
	case known.index == nil:
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: "Loading", Message: "the catalog is being loaded"}
	case known.warnings != "":
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: reasonProblems, Message: known.warnings}
	}
	return metav1.Condition{Status: metav1.ConditionTrue, Reason: reasonServing,
		Message: fmt.Sprintf("serving %d packages of image %s", len(known.index.PackageNames()), known.digest)}
}

// describe lists the first errors of a catalog that is served without the objects they concern. Warnings are for the catalog's
// author, not for a cluster.
func describe(problems catalog.Problems) string {
	var errors catalog.Problems
	for _, p := range problems {
		if p.Severity == catalog.Error {
			errors = append(errors, p)
		}
	}
	if len(errors) == 0 {
		return ""
	}
	text := fmt.Sprintf("what these %d errors concern is not served", len(errors))
	for i, p := range errors {
		if i == maxMessageProblems {
			return text + fmt.Sprintf("; and %d more", len(errors)-i)
		}
		text += "; " + p.String()
	}
	return text
}

// stamp is a time as the API server keeps it.
func stamp(t time.Time) *metav1.Time {
	return &metav1.Time{Time: t.Truncate(time.Second)}
}
