package apply

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Ensure writes one object for a caller that reads and judges it itself, and reads the answer into wanted. An object that the caller believes to be
// missing is created, in one request: a server-side apply would overwrite what another client has made in between. AlreadyExists then means that the
// object has to be read and judged again. One that exists is applied. What an earlier create recorded as an update by the manager is turned into an
// apply on that occasion, so that fields which are no longer wanted go.
func Ensure(ctx context.Context, c client.Client, wanted *unstructured.Unstructured, missing bool, manager string, options ...client.ApplyOption) error {
	if missing && !isDryRun(options) {
		return c.Create(ctx, wanted, client.FieldOwner(manager))
	}
	again := wanted.DeepCopy()
	options = append(options, client.FieldOwner(manager), client.ForceOwnership)
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted), options...); err != nil {
		return err
	}
	if !isCreator(wanted, manager) || isDryRun(options) {
		return nil
	}
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(wanted, sets.New(manager), manager)
	if err != nil || patch == nil {
		return err
	}
	target := &unstructured.Unstructured{}
	target.SetGroupVersionKind(wanted.GroupVersionKind())
	target.SetNamespace(wanted.GetNamespace())
	target.SetName(wanted.GetName())
	if err := c.Patch(ctx, target, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(manager)); err != nil {
		return fmt.Errorf("turn what the create of %s recorded into an apply: %w", RefOf(wanted), err)
	}
	again.SetUID(target.GetUID())
	again.SetResourceVersion(target.GetResourceVersion())
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(again), options...); err != nil {
		return err
	}
	wanted.Object = again.Object
	return nil
}

// isCreator reports whether a manager has fields of an object by a create.
func isCreator(live *unstructured.Unstructured, manager string) bool {
	for _, e := range live.GetManagedFields() {
		if e.Manager == manager && e.Operation == metav1.ManagedFieldsOperationUpdate && e.Subresource == "" {
			return true
		}
	}
	return false
}

func isDryRun(options []client.ApplyOption) bool {
	o := &client.ApplyOptions{}
	o.ApplyOptions(options)
	return len(o.DryRun) > 0
}
