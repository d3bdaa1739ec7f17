package clustercatalog

import (
	"slices"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/reconcile"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What the conditions say. Clients know these texts.
const (
	messageUnpacked    = "Successfully unpacked and stored content from resolved source"
	messageServing     = "Serving desired content from resolved source"
	messageLastGood    = "Serving the last good content"
	messageUnavailable = "Catalog availability mode is set to Unavailable"
)

// ownTypes are the condition types of a ClusterCatalog.
var ownTypes = append([]string{olmv1.TypeProgressing, olmv1.TypeServing, olmv1.TypeSignatureVerified}, reconcile.VerdictTypes...)

// report is what a status is made of.
type report struct {
	known content
	// reading says that an attempt takes so long that it is worth a word.
	reading bool
	// base is where clients find the content; empty when it is not served over HTTP.
	base string
}

// status says what is known of the catalog. It changes nothing that it has nothing new to say about: while other content than the desired is
// served, Serving stays what it was.
func status(object *olmv1.ClusterCatalog, r report, now time.Time) olmv1.ClusterCatalogStatus {
	known, off := r.known, object.Spec.AvailabilityMode == olmv1.AvailabilityModeUnavailable
	if !off && known.index == nil && known.problem == nil && !r.reading {
		return *object.Status.DeepCopy() // nothing is known yet, and will be soon
	}
	next := observations(object, r, off, now)
	judge(object, r, &next, now)
	return next
}

// observations are all of a status but the verdict.
func observations(object *olmv1.ClusterCatalog, r report, off bool, now time.Time) olmv1.ClusterCatalogStatus {
	next, known := *object.Status.DeepCopy(), r.known
	set := func(kind string, s metav1.ConditionStatus, reason, message string) {
		olmv1.SetCondition(&next.Conditions, olmv1.NewCondition(kind, s, reason, message), object.Generation, metav1.NewTime(now.Truncate(time.Second)))
	}
	next.Conditions = slices.DeleteFunc(next.Conditions, func(c metav1.Condition) bool { return !slices.Contains(ownTypes, c.Type) })
	if off {
		meta.RemoveStatusCondition(&next.Conditions, olmv1.TypeSignatureVerified)
		next.ResolvedSource, next.URLs, next.LastUnpacked = nil, nil, nil
		set(olmv1.TypeProgressing, metav1.ConditionTrue, olmv1.ReasonSucceeded, messageUnavailable)
		set(olmv1.TypeServing, metav1.ConditionFalse, olmv1.ReasonUserSpecifiedUnavailable, messageUnavailable)
		return next
	}
	switch {
	case known.problem != nil && (isTerminal(known.target.ref, known.problem) || image.IsUnverified(known.problem)):
		set(olmv1.TypeProgressing, metav1.ConditionFalse, olmv1.ReasonBlocked, messages.Error(known.problem))
	case known.problem != nil:
		set(olmv1.TypeProgressing, metav1.ConditionTrue, olmv1.ReasonRetrying, messages.Error(known.problem))
	case known.reached:
		set(olmv1.TypeProgressing, metav1.ConditionTrue, olmv1.ReasonSucceeded, messageUnpacked)
	case r.reading:
		set(olmv1.TypeProgressing, metav1.ConditionTrue, olmv1.ReasonRetrying, "reading the catalog in image "+known.target.ref)
	}
	switch signature := known.signatures.Condition(known.index != nil); {
	case signature != nil:
		set(signature.Type, signature.Status, signature.Reason, signature.Message)
	case !known.signatures.Pending: // otherwise what was reported last stands until it is verified again
		meta.RemoveStatusCondition(&next.Conditions, olmv1.TypeSignatureVerified)
	}
	if known.index == nil {
		next.ResolvedSource, next.URLs, next.LastUnpacked = nil, nil, nil
		set(olmv1.TypeServing, metav1.ConditionFalse, olmv1.ReasonUnavailable, "")
		return next
	}
	next.ResolvedSource = &olmv1.ResolvedCatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ResolvedImageSource{Ref: known.resolved}}
	next.URLs = nil
	if r.base != "" {
		next.URLs = &olmv1.ClusterCatalogURLs{Base: r.base}
	}
	if at := metav1.NewTime(known.unpacked.Truncate(time.Second)); next.LastUnpacked == nil || !next.LastUnpacked.Equal(&at) {
		next.LastUnpacked = &at
	}
	switch {
	case known.reached:
		message := messageServing
		if text := catalogstore.DescribeProblems(known.index.Problems().UnderV1(), "cannot be installed"); text != "" {
			message += "; " + text
		}
		set(olmv1.TypeServing, metav1.ConditionTrue, olmv1.ReasonAvailable, messages.Brief(message))
	case !meta.IsStatusConditionTrue(next.Conditions, olmv1.TypeServing):
		set(olmv1.TypeServing, metav1.ConditionTrue, olmv1.ReasonAvailable, messageLastGood)
	}
	return next
}
