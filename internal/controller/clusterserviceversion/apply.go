package clusterserviceversion

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/internal/rollout"
)

// emptyLike is a new object of the same type.
func emptyLike(object client.Object) client.Object {
	return reflect.New(reflect.TypeOf(object).Elem()).Interface().(client.Object)
}

// removeAs deletes an object; one that is gone already is fine.
func removeAs(ctx context.Context, as client.Client, object client.Object, options ...client.DeleteOption) error {
	if err := as.Delete(ctx, object, options...); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %s %s: %w", kindOf(object), client.ObjectKeyFromObject(object), err)
	}
	return nil
}

// thatOne keeps a deletion from an object that somebody has made since under the same name.
func thatOne(object client.Object) client.Preconditions {
	uid := object.GetUID()
	if uid == "" {
		return client.Preconditions{}
	}
	return client.Preconditions{UID: &uid}
}

// make makes the changes in their order, all of them even when some fail, and returns the Deployments that were applied. Where one is refused nothing is
// written at all, so that what runs keeps all that it has.
func (f *facts) make(ctx context.Context, changes []change, dryRun bool) ([]*appsv1.Deployment, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	installer, err := f.installer(ctx)
	if err != nil {
		return nil, err
	}
	phases, err := f.phases(ctx, changes)
	if err != nil {
		return nil, err
	}
	if dryRun {
		installer = client.NewDryRunClient(installer)
	}
	engine := rollout.Engine{Client: installer, Reader: f.c.live, FieldManager: string(fieldManager), Parallel: 1}
	result := engine.Apply(ctx, phases)
	var applied []*appsv1.Deployment
	for _, p := range result.Phases {
		for _, o := range p.Objects {
			if o.Err != nil || o.Live == nil || o.Ref.Kind != "Deployment" || o.Outcome == rollout.Deleted || o.Outcome == rollout.NotAttempted {
				continue
			}
			live := &appsv1.Deployment{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Live.Object, live); err != nil {
				return nil, fmt.Errorf("read the answer about %s: %w", o.Ref, err)
			}
			applied = append(applied, live)
		}
	}
	if err := result.Err(); err != nil {
		return applied, fmt.Errorf("%w%s", err, f.installedAs(ctx))
	}
	return applied, nil
}

// phases are the changes as the engine makes them: one phase for each stretch of changes that are made with the same rights.
func (f *facts) phases(ctx context.Context, changes []change) ([]rollout.Phase, error) {
	chain, err := f.chain(ctx)
	if err != nil {
		return nil, err
	}
	var out []rollout.Phase
	byManager := false
	for _, c := range changes {
		if len(out) == 0 || c.byManager != byManager {
			byManager = c.byManager
			out = append(out, rollout.Phase{Independent: true})
			if byManager {
				out[len(out)-1].Client = f.c.client
			}
		}
		object, err := f.object(chain, c)
		if err != nil {
			return nil, err
		}
		last := &out[len(out)-1]
		last.Objects = append(last.Objects, object)
	}
	return out, nil
}

// object is a change as the engine makes it.
func (f *facts) object(chain *chain, c change) (rollout.Object, error) {
	if c.apply == nil {
		gvk, err := f.c.client.GroupVersionKindFor(c.remove)
		if err != nil {
			return rollout.Object{}, fmt.Errorf("delete %s %s: %w", kindOf(c.remove), client.ObjectKeyFromObject(c.remove), err)
		}
		gone := &unstructured.Unstructured{}
		gone.SetGroupVersionKind(gvk)
		gone.SetNamespace(c.remove.GetNamespace())
		gone.SetName(c.remove.GetName())
		gone.SetUID(c.remove.GetUID())
		return rollout.Object{Wanted: gone, Policy: rollout.Remove}, nil
	}
	desired, err := rollout.Render(c.apply)
	return rollout.Object{Wanted: desired, Absent: c.absent, Displaces: refersElsewhere(desired), Adjust: func(desired, live *unstructured.Unstructured) error {
		if live == nil {
			return nil
		}
		return f.mayWrite(chain, c.apply, desired, live)
	}}, err
}

// refersElsewhere reports that a live binding is to another role than the desired one, which cannot be changed in place.
func refersElsewhere(desired *unstructured.Unstructured) func(live *unstructured.Unstructured) bool {
	return func(live *unstructured.Unstructured) bool {
		return !equality.Semantic.DeepEqual(live.Object["roleRef"], desired.Object["roleRef"])
	}
}

// watches says whether the manager manages a namespace.
func (c *Controller) watches(namespace string) bool {
	return len(c.limits.namespaces) == 0 || slices.Contains(c.limits.namespaces, namespace)
}

// kindOf is the kind of an object for messages.
func kindOf(object client.Object) string { return reflect.TypeOf(object).Elem().Name() }
