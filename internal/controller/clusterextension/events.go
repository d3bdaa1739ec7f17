package clusterextension

import (
	"fmt"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/messages"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// eventSource is the component that Events come from.
const eventSource = "clusterextension-controller"

// Reasons of Events, besides those of the condition Progressing.
const (
	eventInstalled = "Installed"
	eventRevision  = "RevisionCreated"
	eventHeld      = "UpgradeHeldBack"
	// eventLeftOut tells that something of catalogs cannot be used which could have changed what is chosen.
	eventLeftOut = "CatalogContentLeftOut"
	// eventUnmet tells that something is gone which the installed bundle needs.
	eventUnmet = "DependencyMissing"
	// eventDependency tells what becomes of extensions that were made for the needs of another one.
	eventDependency = "DependencyRemoved"
)

// tell makes Events of what is new since the status was written last.
func (c *Controller) tell(before, after *olmv1.ClusterExtension, o *outcome) {
	if o.made != nil {
		c.events.Event(after, corev1.EventTypeNormal, eventRevision, fmt.Sprintf("revision %s of bundle %s rolls out", o.made.Name, o.made.Annotations[olmv1.BundleNameKey]))
	}
	if is := after.Status.Install; is != nil && (before.Status.Install == nil || before.Status.Install.Bundle.Name != is.Bundle.Name) {
		c.events.Event(after, corev1.EventTypeNormal, eventInstalled, "bundle "+is.Bundle.Name+" is installed")
	}
	was, is := meta.FindStatusCondition(before.Status.Conditions, olmv1.TypeProgressing), meta.FindStatusCondition(after.Status.Conditions, olmv1.TypeProgressing)
	if is == nil || was != nil && was.Status == is.Status && was.Reason == is.Reason && was.Message == is.Message {
		return
	}
	switch {
	case is.Status == metav1.ConditionFalse || is.Reason == olmv1.ReasonRetrying:
		c.events.Event(after, corev1.EventTypeWarning, is.Reason, messages.Event(is.Message))
	case len(o.unmet) > 0:
		c.events.Event(after, corev1.EventTypeWarning, eventUnmet, messages.Event(o.unmet[0]))
	case len(o.notes) > 0:
		c.events.Event(after, corev1.EventTypeNormal, eventHeld, messages.Event(o.notes[0]))
	case len(o.leftOut) > 0:
		c.events.Event(after, corev1.EventTypeWarning, eventLeftOut, messages.Event(o.leftOut[0]))
	}
}
