package webhooks

import (
	"context"
	"fmt"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// conversions waits until the test's own kind is converted by a server.
func (w *world) conversions(by *server, name string) {
	w.Helper()
	must.Eventually(w, "things to be converted", func() error {
		read := w.thing(w.Namespace, "v2", name, 0)
		asked := by.count(paths[converting])
		if err := w.Get(w.Context(), client.ObjectKeyFromObject(read), read); err != nil {
			return err
		}
		if by.count(paths[converting]) == asked {
			return fmt.Errorf("the webhook was not asked")
		}
		return nil
	})
}

// uses makes sure that a thing can be written and read in v2 as it should be.
func (w *world) uses(ctx context.Context, name string) error {
	thing := w.thing(w.Namespace, "v2", name, 70)
	thing.SetAnnotations(map[string]string{mark: ""})
	if err := w.Patch(ctx, thing, client.Merge); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if size(thing) != 70 || thing.GetAnnotations()[mark] == "" {
		return fmt.Errorf("it has the size %d and was seen by %q", size(thing), thing.GetAnnotations()[mark])
	}
	return nil
}

// TestUpgrade to a version whose webhooks another Deployment serves, which comes up slowly: things are validated, mutated and converted
// all the time, and no request fails. The old server ends with its version.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before, after := w.serve("old"), w.serve("new")
	w.Make(w.everywhere(), w.things(), w.operator("op.v1", fixture.Modes("AllNamespaces"), w.owns, fixture.Deployments("old"), w.hooks("old", validating, mutating, converting)))
	w.Succeeds("op.v1")
	works := w.inUse(before)
	before.endsWith("op.v1")
	w.Make(w.operator("op.v2", fixture.Modes("AllNamespaces"), fixture.Replacing("op.v1"), w.owns, fixture.Deployments("new"), gated, w.hooks("new", validating, mutating, converting)))
	w.Is("op.v2", v1alpha1.CSVPhaseInstalling, v1alpha1.CSVReasonWaiting)
	works.goOn()
	after.unasked()
	w.openGates("new")
	w.Succeeds("op.v2")
	w.Goes("op.v1", &v1alpha1.ClusterServiceVersion{})
	works.goOn()
	works.neverFailed()
	w.conversions(after, "used")
	validating, mutating := w.configurations(w.Namespace)
	if len(validating) != 1 || len(mutating) != 1 || validating[0].Labels[v1alpha1.OwnerLabel] != "op.v2" || mutating[0].Labels[v1alpha1.OwnerLabel] != "op.v2" {
		t.Errorf("registered are %v, %v", validating, mutating)
	}
}

// TestUpgradeOfTheSameDeployment rolls its pods out; everything that they serve with goes over to the next version, and nothing fails.
func TestUpgradeOfTheSameDeployment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.serve("manager")
	w.Make(w.everywhere(), w.things(), w.operator("op.v1", fixture.Modes("AllNamespaces"), w.owns, w.hooks("manager", validating, mutating, converting), w.apis("manager", "v3")))
	w.Succeeds("op.v1")
	before := w.secret("manager-service-cert")
	w.answers("v3", "manager")
	works := w.inUse(s)
	w.Make(w.operator("op.v2", fixture.Modes("AllNamespaces"), fixture.Replacing("op.v1"), w.owns, w.hooks("manager", validating, mutating, converting), w.apis("manager", "v3"),
		func(csv *v1alpha1.ClusterServiceVersion) {
			csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Spec.Template.Spec.Containers[0].Image = "example.com/manager:2"
		}))
	csv := w.Succeeds("op.v2")
	w.Goes("op.v1", &v1alpha1.ClusterServiceVersion{})
	works.goOn()
	works.neverFailed()
	after := w.secret("manager-service-cert")
	if string(after.Data["tls.crt"]) != string(before.Data["tls.crt"]) {
		t.Error("the certificate was made anew although it is good")
	}
	service := &corev1.Service{}
	w.Read("manager-service", service)
	for _, object := range []client.Object{after, service, w.deployment("manager")} {
		if owners := object.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != csv.UID {
			t.Errorf("%T does not stay: its owners are %v", object, owners)
		}
	}
}
