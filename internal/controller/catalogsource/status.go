package catalogsource

import (
	"errors"
	"fmt"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The Ready condition is the one verdict on a CatalogSource. It is True as long as content is served, be it the last good one.
const (
	conditionReady     = "Ready"
	reasonServing      = "Serving"
	reasonProblems     = "ServingWithProblems"
	reasonLastGood     = "ServingLastGoodContent"
	reasonLoading      = "Loading"
	maxMessageProblems = 3
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
	next.RegistryServiceStatus = registryService(source, known, offered)
	next.GRPCConnectionState = connection(source, known, offered, r.connected)
	next.ConfigMapResource = configMapReference(source, known)
	if pollsImage(source) && known.invalid == nil && !known.looked.IsZero() {
		next.LatestImageRegistryPoll = stamp(known.looked)
	}
	ready := readiness(known, offered)
	ready.Type, ready.ObservedGeneration = conditionReady, source.Generation
	ready.LastTransitionTime = *stamp(now)
	meta.SetStatusCondition(&next.Conditions, ready)
	r.image.report(&next.Conditions, source.Generation, now)
	return next
}

func reasonAndMessage(source *v1alpha1.CatalogSource, known content, offered offer) (v1alpha1.ConditionReason, string) {
	switch {
	case known.invalid != nil:
		return v1alpha1.CatalogSourceSpecInvalidError, known.invalid.Error()
	case known.problem != nil:
		return reasonOf(known.problem), known.problem.Error()
	case offered.err != nil:
		return v1alpha1.CatalogSourceRegistryServerError, offered.err.Error()
	}
	if known.index == nil && offered.waiting != "" {
		return "", offered.waiting
	}
	if s := source.Spec.UpdateStrategy; s != nil && s.RegistryPoll != nil && s.RegistryPoll.ParsingError != "" {
		return v1alpha1.CatalogSourceIntervalInvalidError, s.RegistryPoll.ParsingError
	}
	return "", known.warnings
}

// reasonOf is the documented reason for a problem.
func reasonOf(problem error) v1alpha1.ConditionReason {
	if errors.As(problem, &configMapError{}) {
		return v1alpha1.CatalogSourceConfigMapError
	}
	return v1alpha1.CatalogSourceRegistryServerError
}

func configMapReference(source *v1alpha1.CatalogSource, known content) *v1alpha1.ConfigMapResourceReference {
	old, read := source.Status.ConfigMapResource, known.configMap
	if !isConfigMap(source) || known.invalid != nil {
		return nil
	}
	if read == nil || old != nil && old.UID == read.UID && old.ResourceVersion == read.ResourceVersion && old.Name == read.Name {
		return old // the time is that of the last change
	}
	return read
}

func readiness(known content, offered offer) metav1.Condition {
	switch {
	case known.invalid != nil:
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: string(v1alpha1.CatalogSourceSpecInvalidError), Message: known.invalid.Error()}
	case known.problem != nil && known.index != nil:
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: reasonLastGood,
			Message: fmt.Sprintf("serving the content loaded at %s, because newer content cannot be had: %s", known.loaded.UTC().Format(time.RFC3339), known.problem)}
	case known.problem != nil:
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: string(reasonOf(known.problem)), Message: known.problem.Error()}
	case known.index == nil:
		c := metav1.Condition{Status: metav1.ConditionFalse, Reason: reasonLoading, Message: "the catalog is being loaded"}
		if offered.err != nil {
			c.Reason, c.Message = string(v1alpha1.CatalogSourceRegistryServerError), offered.err.Error()
		} else if offered.waiting != "" {
			c.Message += ": " + offered.waiting
		}
		return c
	case offered.waiting != "":
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: reasonLastGood,
			Message: fmt.Sprintf("serving the content loaded at %s: %s", known.loaded.UTC().Format(time.RFC3339), offered.waiting)}
	case offered.err != nil:
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: reasonProblems,
			Message: fmt.Sprintf("the content is used for resolution, but clients may not reach it: %s", offered.err)}
	case known.warnings != "":
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: reasonProblems, Message: known.warnings}
	}
	return metav1.Condition{Status: metav1.ConditionTrue, Reason: reasonServing,
		Message: fmt.Sprintf("serving %d packages of %s", len(known.index.PackageNames()), known.digest)}
}

// describe lists the first errors of a catalog that is served without the objects they concern. Warnings are for the catalog's
// author, not for a cluster.
func describe(problems catalog.Problems) string {
	errors := problems.Errors()
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
