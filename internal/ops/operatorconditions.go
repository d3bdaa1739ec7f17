package ops

import (
	"slices"
	"strings"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Condition is one observation of an object, with what it means.
type Condition struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Meaning says it in plain words; empty for a type that is not known.
	Meaning string `json:"meaning,omitempty"`
	// Good is whether that is as it should be; nil where it is neither good nor bad.
	Good  *bool     `json:"good,omitempty"`
	Since time.Time `json:"since,omitzero"`
}

// meaning is what a type of conditions says when it is True and when it is False.
type meaning struct {
	is, isNot string
	// wanted is the status that is as it should be; empty where none is. One that begins with a ! is the status that is not.
	wanted string
}

// meanings are those of the types that the managers of both APIs write.
var meanings = map[string]meaning{
	reconcile.TypeReady:       {"it is as it is asked for, and works", "it is not yet as it is asked for", "True"},
	reconcile.TypeReconciling: {"the manager is at work on it", "the manager has nothing left to do for it", ""},
	reconcile.TypeStalled:     {"nothing more happens until something is changed", "nothing keeps the manager from its work", "False"},

	olmv1.TypeInstalled:         {"a version is installed", "no version is installed", "True"},
	olmv1.TypeProgressing:       {"the manager is at work on it, or has come to its end", "nothing more happens until something is changed", "!False"},
	olmv1.TypeAvailable:         {"all its objects are there and work", "some of its objects do not work", "True"},
	olmv1.TypeSucceeded:         {"all its objects have been there and worked once", "its objects have not all worked yet", "True"},
	olmv1.TypeDeprecated:        {"what is installed or followed is deprecated", "nothing of it is deprecated", "False"},
	olmv1.TypePackageDeprecated: {"the whole package is deprecated", "the package is not deprecated", "False"},
	olmv1.TypeChannelDeprecated: {"a channel that is followed is deprecated", "no channel that is followed is deprecated", "False"},
	olmv1.TypeBundleDeprecated:  {"the installed version is deprecated", "the installed version is not deprecated", "False"},
	olmv1.TypeSupported:         {"the installed version is supported", "the installed version is not supported any more", "True"},
	olmv1.TypeSignatureVerified: {"the signature policy accepts the bundle", "the signature policy does not accept the bundle", "True"},

	string(v1alpha1.SubscriptionCatalogSourcesUnhealthy): {"a catalog that it needs is missing or does not answer", "all catalogs that it needs answer", "False"},
	string(v1alpha1.SubscriptionInstallPlanMissing):      {"its InstallPlan is gone", "its InstallPlan is there", "False"},
	string(v1alpha1.SubscriptionInstallPlanPending):      {"its InstallPlan is not carried out yet", "its InstallPlan is carried out", ""},
	string(v1alpha1.SubscriptionInstallPlanFailed):       {"its InstallPlan has failed", "its InstallPlan has not failed", "False"},
	string(v1alpha1.SubscriptionResolutionFailed):        {"no set of versions gives everybody what is asked for", "there is a version for it", "False"},
	string(v1alpha1.SubscriptionBundleUnpacking):         {"the bundle is being fetched", "no bundle is being fetched", ""},
	string(v1alpha1.SubscriptionBundleUnpackFailed):      {"the bundle could not be fetched or read", "the bundle could be read", "False"},
}

// explained is a condition with what it means.
func explained(c Condition) Condition {
	m, known := meanings[c.Type]
	switch {
	case known && c.Status == "True":
		c.Meaning = m.is
	case known && c.Status == "False":
		c.Meaning = m.isNot
	case known:
		c.Meaning = "whether that is so is not known yet"
	}
	good := c.Status == m.wanted
	if bad, only := strings.CutPrefix(m.wanted, "!"); m.wanted != "" && c.Status != "Unknown" && (!only || c.Status == bad) {
		c.Good = &good
	}
	return c
}

// statusConditions are those of an object of the v1 API.
func statusConditions(kind, name string, all []metav1.Condition) (out []Condition) {
	for _, c := range all {
		out = append(out, explained(Condition{Kind: kind, Name: name, Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime.Time}))
	}
	return out
}

func subscriptionConditions(sub *v1alpha1.Subscription) (out []Condition) {
	for _, c := range sub.Status.Conditions {
		one := Condition{Kind: v1alpha1.SubscriptionKind, Name: sub.Name, Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message}
		if c.LastTransitionTime != nil {
			one.Since = c.LastTransitionTime.Time
		}
		out = append(out, explained(one))
	}
	return out
}

// maxPhases is how many of the phases of a ClusterServiceVersion are told.
const maxPhases = 8

// phases are what the phases of a ClusterServiceVersion mean.
var phases = map[v1alpha1.ClusterServiceVersionPhase]string{
	v1alpha1.CSVPhasePending:      "it waits for what it requires",
	v1alpha1.CSVPhaseInstallReady: "everything that it requires is there",
	v1alpha1.CSVPhaseInstalling:   "its Deployments are being made, or become available",
	v1alpha1.CSVPhaseSucceeded:    "it is installed, and its Deployments work",
	v1alpha1.CSVPhaseFailed:       "it could not be installed, or stopped working",
	v1alpha1.CSVPhaseReplacing:    "a newer version takes its place",
	v1alpha1.CSVPhaseDeleting:     "it is being removed",
	v1alpha1.CSVPhaseUnknown:      "what became of it is not known",
}

// versionConditions are the phases that a ClusterServiceVersion has come through, the newest first, and what is True or False of it.
func versionConditions(csv *v1alpha1.ClusterServiceVersion) (out []Condition) {
	typed := csv.Status.TypedConditions()
	for _, c := range typed {
		one := Condition{Kind: v1alpha1.ClusterServiceVersionKind, Name: csv.Name, Type: c.Type, Status: string(c.Status), Reason: string(c.Reason), Message: c.Message}
		if c.LastTransitionTime != nil {
			one.Since = c.LastTransitionTime.Time
		}
		out = append(out, explained(one))
	}
	history := csv.Status.Conditions[len(typed):]
	for _, c := range slices.Backward(history[max(0, len(history)-maxPhases):]) {
		one := Condition{Kind: v1alpha1.ClusterServiceVersionKind, Name: csv.Name, Type: "Phase", Status: string(c.Phase), Reason: string(c.Reason), Message: c.Message, Meaning: phases[c.Phase]}
		if c.LastTransitionTime != nil {
			one.Since = c.LastTransitionTime.Time
		}
		if ended := c.Phase == v1alpha1.CSVPhaseSucceeded; ended || c.Phase == v1alpha1.CSVPhaseFailed {
			one.Good = &ended
		}
		out = append(out, one)
	}
	return out
}
