package rollout

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// attempts is how often a write is tried when others write the same object at the same time.
const attempts = 4

// ready makes sure that the observation is a current one that allows writing.
func (t *task) ready(ctx context.Context, attempt int) bool {
	if t.result.Err == nil && (!t.seen || attempt > 1) {
		t.observe(ctx)
		if !t.seen && t.result.Err == nil {
			t.result.Outcome = Failed
			t.result.Err = &UnknownKindError{Ref: t.result.Ref}
		}
	}
	if t.result.Err != nil || t.blocked {
		return false
	}
	if err := t.completeOwners(ctx, t.wanted); err != nil {
		t.result.Outcome, t.result.Err = Failed, fmt.Errorf("write %s: %w", t.result.Ref, err)
		return false
	}
	return true
}

func (t *task) attempt(ctx context.Context) (verb string, _ Outcome, _ error) {
	warned := &warnings{}
	ctx = context.WithValue(ctx, warningsKey{}, warned)
	defer func() {
		warned.mu.Lock()
		defer warned.mu.Unlock()
		t.result.Warnings = warned.all
	}()
	switch {
	case t.left:
		return "read", Left, nil
	case t.Policy == CreateOnly && t.live != nil:
		if t.Displaces == nil || !t.Displaces(t.live) {
			return "read", Unchanged, nil
		}
		// A client that may not create it is refused before anything goes. The placeholder is the engine's.
		if err := t.create(ctx); !apierrors.IsAlreadyExists(err) {
			return "create", Created, err
		}
		if err := t.deleteBy(ctx, t.engine.Client); client.IgnoreNotFound(err) != nil {
			return "delete the placeholder", Failed, err
		}
		return "create", Created, t.create(ctx)
	case t.Policy == CreateOnly:
		return "create", Created, t.create(ctx)
	case t.Policy == Remove:
		options := client.DeleteOptions{}
		if uid := t.Wanted.GetUID(); uid != "" {
			options.Preconditions = &metav1.Preconditions{UID: &uid}
		}
		t.live = t.Wanted
		return "delete", Deleted, client.IgnoreNotFound(t.client.Delete(ctx, t.Wanted.DeepCopy(), &options))
	}
	stamp(t.wanted)
	if t.live == nil {
		return "create", Created, t.create(ctx)
	}
	if t.Displaces != nil && t.Displaces(t.live) {
		if err := t.deleteBy(ctx, t.client); client.IgnoreNotFound(err) != nil {
			return "delete", Failed, err
		}
		return "create", Created, t.create(ctx)
	}
	warned.add(prune(t.engine.Client.Scheme(), t.wanted, t.live)...)
	managers := t.predecessors()
	if managers.Len() == 0 && asWanted(t.wanted, t.live, t.engine.FieldManager) {
		return "read", Unchanged, nil
	}
	return "apply", Configured, t.apply(ctx, managers.Insert(t.engine.FieldManager))
}

// create makes the object by a plain create rather than by an apply: that fails when another client was faster, and needs the
// permission to create alone.
func (t *task) create(ctx context.Context) error {
	if err := t.client.Create(ctx, t.wanted, client.FieldOwner(t.engine.FieldManager)); err != nil {
		return err
	}
	t.live = t.wanted // the client has read the answer into it
	return nil
}

// apply takes the ownership of the desired fields. Fields that were desired before, and no longer are, go. It is refused when the object is not the
// one that was read any more: it may belong to another client by now.
func (t *task) apply(ctx context.Context, before sets.Set[string]) error {
	adopted, err := adopt(ctx, t.client, t.live, before, t.engine.FieldManager)
	if err != nil {
		return err
	}
	t.wanted.SetUID(t.live.GetUID())
	t.wanted.SetResourceVersion(adopted.GetResourceVersion())
	configuration := client.ApplyConfigurationFromUnstructured(t.wanted)
	if err := t.client.Apply(ctx, configuration, client.FieldOwner(t.engine.FieldManager), client.ForceOwnership); err != nil {
		return err
	}
	t.live = t.wanted
	return nil
}

// predecessors are those field managers of the caller that still have fields of the object.
func (t *task) predecessors() sets.Set[string] {
	found := sets.New[string]()
	if t.Predecessors == nil {
		return found
	}
	names := sets.New(t.Predecessors(t.live)...)
	for _, entry := range t.live.GetManagedFields() {
		if entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource == "" && names.Has(entry.Manager) {
			found.Insert(entry.Manager)
		}
	}
	return found
}

// adopt turns what a create, or predecessors, recorded as their fields into what an apply records, so that no two own them. It returns
// the object after that, which is live where there was nothing to turn.
func adopt(ctx context.Context, c client.Client, live *unstructured.Unstructured, managers sets.Set[string], manager string) (*unstructured.Unstructured, error) {
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(live, managers, manager)
	if err != nil {
		return nil, fmt.Errorf("adopt the fields that it was written with: %w", err)
	}
	if patch == nil {
		return live, nil
	}
	target := &unstructured.Unstructured{}
	target.SetGroupVersionKind(live.GroupVersionKind())
	target.SetNamespace(live.GetNamespace())
	target.SetName(live.GetName())
	return target, c.Patch(ctx, target, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(manager))
}

// Ensure writes one object for a caller that reads and judges it itself, and reads the answer into wanted. An object that the caller believes to be
// missing is created, in one request: a server-side apply would overwrite what another client has made in between. AlreadyExists then means that the
// object has to be read and judged again. One that exists is applied. What an earlier create recorded as an update by the manager is turned into an
// apply on that occasion, so that fields which are no longer desired go.
func Ensure(ctx context.Context, c client.Client, wanted *unstructured.Unstructured, missing bool, manager string, options ...client.ApplyOption) error {
	var applied client.ApplyOptions
	applied.ApplyOptions(options)
	dryRun := len(applied.DryRun) > 0
	if missing && !dryRun {
		return c.Create(ctx, wanted, client.FieldOwner(manager))
	}
	again := wanted.DeepCopy()
	options = append(options, client.FieldOwner(manager), client.ForceOwnership)
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted), options...); err != nil {
		return err
	}
	created := slices.ContainsFunc(wanted.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == manager && e.Operation == metav1.ManagedFieldsOperationUpdate && e.Subresource == ""
	})
	if !created || dryRun {
		return nil
	}
	adopted, err := adopt(ctx, c, wanted, sets.New(manager), manager)
	if err != nil {
		return fmt.Errorf("turn what the create of %s recorded into an apply: %w", RefOf(wanted), err)
	}
	if adopted == wanted {
		return nil
	}
	again.SetUID(adopted.GetUID())
	again.SetResourceVersion(adopted.GetResourceVersion())
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(again), options...); err != nil {
		return err
	}
	wanted.Object = again.Object
	return nil
}

// Assert has an object carry some fields, by server-side apply, for a caller that reads and judges the object itself. Fields that the manager asserted
// before, and no longer does, are removed.
func Assert(ctx context.Context, c client.Client, fields runtime.ApplyConfiguration, manager client.FieldOwner, options ...client.ApplyOption) error {
	return c.Apply(ctx, fields, append(options, manager, client.ForceOwnership)...)
}
