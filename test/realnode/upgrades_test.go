package realnode

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

const (
	upgradeToNoImage = "upgrade-to-no-image"
	upgradeToCrash   = "upgrade-to-crash"
)

// knownUpgrades lead from an operator that works to one that does not.
func (w *world) knownUpgrades() map[string]fault {
	return map[string]fault{
		upgradeToNoImage: {change: first(func(c *corev1.Container) { c.Image = w.status.Registry + "/test/missing:2" }), says: []string{"image " + w.status.Registry + "/test/missing:2 cannot be pulled"}},
		upgradeToCrash:   {change: w.runs("exit", "3", "3s"), says: []string{"keeps exiting with code 3 (Error)"}},
	}
}

// beginUpgrades installs what is upgraded, with both APIs, and asks for the upgrade as soon as it works.
func (w *world) beginUpgrades() map[string]fault {
	all := w.knownUpgrades()
	for name := range all {
		w.subscribe(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "v0-" + name}}, name, true)
		w.extend(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "v1-" + name}}, name)
	}
	for name := range all {
		must.EventuallyWithin(w, name+" is installed", 2*time.Minute, func() error {
			return errors.Join(w.csvSucceeds("v0-"+name, name+".v1.0.0"), w.extensionHas(name, "1.0.0"))
		})
		w.moveOn(name)
	}
	return all
}

// moveOn asks for the newest version of a package with both APIs. The ClusterExtension goes back by itself when that fails.
func (w *world) moveOn(name string) {
	w.Helper()
	subscription := &v1alpha1.Subscription{}
	must.NoError(w, w.Get(w.Context(), client.ObjectKey{Namespace: "v0-" + name, Name: name}, subscription))
	before := subscription.DeepCopy()
	subscription.Spec.Channel = next
	must.NoError(w, w.Patch(w.Context(), subscription, client.MergeFrom(before)))
	extension := &olmv1.ClusterExtension{}
	must.NoError(w, w.Get(w.Context(), client.ObjectKey{Name: name}, extension))
	was := extension.DeepCopy()
	extension.Spec.Source.Catalog.Channels = []string{next}
	if name == upgradeToCrash {
		metav1.SetMetaDataAnnotation(&extension.ObjectMeta, "operators.fairlead.dev/on-failure", "rollback")
	}
	must.NoError(w, w.Patch(w.Context(), extension, client.MergeFrom(was)))
}

// endUpgrades: the reason of the new pods comes first, an operator that crashes after its start has not succeeded, and goes back where that is asked for.
func (w *world) endUpgrades(all map[string]fault) {
	w.step("v0/"+upgradeToNoImage, func(w *world) {
		w.saysFirst(func() (bool, string) {
			return w.csvState(upgradeToNoImage, upgradeToNoImage+".v1.1.0")
		}, "v0-"+upgradeToNoImage, upgradeToNoImage, all[upgradeToNoImage].says[0])
	})
	w.step("v1/"+upgradeToNoImage, func(w *world) {
		w.saysFirst(func() (bool, string) { return false, w.revisionState(upgradeToNoImage + "-2") }, "v1-"+upgradeToNoImage, upgradeToNoImage, all[upgradeToNoImage].says[0])
	})
	w.step("v0/"+upgradeToCrash, func(w *world) {
		must.EventuallyWithin(w, "the operator has failed", 2*time.Minute, func() error {
			failed, message := w.csvState(upgradeToCrash, upgradeToCrash+".v1.1.0")
			if !failed || !strings.Contains(message, all[upgradeToCrash].says[0]) {
				return errors.New(message)
			}
			return nil
		})
		csv := &v1alpha1.ClusterServiceVersion{}
		must.NoError(w, w.Get(w.Context(), client.ObjectKey{Namespace: "v0-" + upgradeToCrash, Name: upgradeToCrash + ".v1.1.0"}, csv))
		for _, c := range csv.Status.Conditions {
			if c.Phase == v1alpha1.CSVPhaseSucceeded {
				w.Errorf("an operator that crashes after its start has succeeded at %s: %s", c.LastTransitionTime, c.Message)
			}
		}
	})
	w.step("v1/"+upgradeToCrash, func(w *world) {
		must.EventuallyWithin(w, "the version before is back", 2*time.Minute, func() error {
			if revision := w.revisionState(upgradeToCrash + "-3"); !strings.Contains(revision, "Succeeded=True") {
				return fmt.Errorf("revision 3: %s", revision)
			}
			return w.extensionHas(upgradeToCrash, "1.0.0")
		})
		if state := w.revisionState(upgradeToCrash + "-2"); strings.Contains(state, "Succeeded=True") {
			w.Errorf("a revision that crashes after its start has succeeded: %s", state)
		}
		_, message := w.extensionState(upgradeToCrash)
		w.Log(message)
	})
	for name := range all {
		w.remove(&olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: name}}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "v0-" + name}}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "v1-" + name}})
	}
}

// saysFirst waits until a status gives the cause, before what is said of the pods that run on, and lets the command agree.
func (w *world) saysFirst(state func() (bool, string), namespace, name, cause string) {
	w.Helper()
	w.eventually("the cause of the new pod is said first", func(ctx context.Context) error {
		_, message := state()
		_, rest, found := strings.Cut(message, cause)
		if !found || strings.Contains(strings.TrimSuffix(message, rest), "pending termination") {
			return errors.New(message)
		}
		return nil
	})
	_, message := state()
	w.Log(message)
	said, _ := w.fairlead("status", name, "-n", namespace)
	if strings.Contains(said, "✓ Deployment") {
		w.Errorf("fairlead status is content with a Deployment whose new pods do not run:\n%s", said)
	}
	must.Contain(w, "what fairlead status says", strings.Join(strings.Fields(said), " "), cause)
}

// csvSucceeds is nil when an operator of the v0 API is installed.
func (w *world) csvSucceeds(namespace, name string) error {
	csv := &v1alpha1.ClusterServiceVersion{}
	if err := w.Get(w.Context(), client.ObjectKey{Namespace: namespace, Name: name}, csv); err != nil {
		return err
	}
	if csv.Status.Phase != v1alpha1.CSVPhaseSucceeded {
		return fmt.Errorf("%s: %s/%s: %s", name, csv.Status.Phase, csv.Status.Reason, csv.Status.Message)
	}
	return nil
}

// extensionHas is nil when a version is installed with the v1 API.
func (w *world) extensionHas(name, version string) error {
	e := &olmv1.ClusterExtension{}
	if err := w.Get(w.Context(), client.ObjectKey{Name: name}, e); err != nil {
		return err
	}
	if !meta.IsStatusConditionTrue(e.Status.Conditions, olmv1.TypeInstalled) || e.Status.Install == nil || e.Status.Install.Bundle.Version != version {
		return fmt.Errorf("%s: %+v %v", name, e.Status.Install, e.Status.Conditions)
	}
	return nil
}

// revisionState is what a ClusterObjectSet says.
func (w *world) revisionState(name string) (text string) {
	set := &olmv1.ClusterObjectSet{}
	if err := w.Get(w.Context(), client.ObjectKey{Name: name}, set); err != nil {
		return err.Error()
	}
	for _, c := range slices.Backward(set.Status.Conditions) {
		text += fmt.Sprintf("%s=%s/%s: %s\n", c.Type, c.Status, c.Reason, c.Message)
	}
	return text
}
