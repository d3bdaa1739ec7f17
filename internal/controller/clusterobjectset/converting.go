package clusterobjectset

import (
	"context"
	"fmt"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// lingering is how long the servers of the revision before stay when nothing leads to them any more: API servers hear of that late, and
// requests that are under way are answered first.
const lingering = 10 * time.Second

// converters keep custom resources converted while the server that converts them changes.
type converters struct {
	*environment
	contents *contents
}

// pagesRewritten is how many pages of custom resources a pass rewrites for a definition.
const pagesRewritten = 2

// rewritingError reports that the custom resources of a definition are still being rewritten before it is replaced.
type rewritingError struct{ waiting string }

func (e *rewritingError) Error() string { return e.waiting }

// migrate rewrites the custom resources of a definition before versions go that they may be stored in, or the webhook that converts these.
func (v *converters) migrate(ctx context.Context, next rollout.Adjust) rollout.Adjust {
	return func(desired, live *unstructured.Unstructured) error {
		if err := next(desired, live); err != nil || live == nil {
			return err
		}
		was, err := crd.Read(live)
		if err != nil {
			return fmt.Errorf("read the versions of CustomResourceDefinition %s in the cluster: %w", live.GetName(), err)
		}
		is, err := crd.Read(desired)
		if err != nil {
			return fmt.Errorf("read the versions of CustomResourceDefinition %s of the revision: %w", desired.GetName(), err)
		}
		verdict, err := crd.Judge(ctx, crd.Change{Live: was, Desired: is, Policy: &crd.Policy{None: true}}, crd.Stored{})
		if err != nil {
			return err
		}
		m := crd.Migration{Client: v.client, Reader: v.live, Live: was, Leaving: verdict.Leaving, Unconverted: verdict.Unconverted, Now: v.clock.Now()}
		waiting, err := m.Rewrite(ctx, pagesRewritten)
		if err == nil && waiting != "" {
			err = &rewritingError{waiting}
		}
		return err
	}
}

// lingers is how long the revisions before one that is complete are not to be archived yet, because API servers may go on asking their servers.
func (v *converters) lingers(ctx context.Context, f *family) time.Duration {
	older := f.older()
	if len(older) == 0 {
		return 0
	}
	since := v.clock.Now()
	if done := meta.FindStatusCondition(f.set.Status.Conditions, olmv1.TypeSucceeded); done != nil {
		since = done.LastTransitionTime.Time
	}
	left := since.Add(lingering).Sub(v.clock.Now())
	if left <= 0 {
		return 0
	}
	services, _ := v.servers(ctx, f.set)
	for _, set := range older {
		others, asked := v.servers(ctx, set)
		if maps.DeleteFunc(others, func(ref rollout.Ref, _ bool) bool { return services[ref] }); asked && len(others) > 0 {
			return left
		}
	}
	return 0
}

// servers are the Services of a set, and whether API servers ask some. What cannot be read any more is not waited for.
func (v *converters) servers(ctx context.Context, set *olmv1.ClusterObjectSet) (services map[rollout.Ref]bool, asked bool) {
	phases, _, err := v.contents.read(ctx, set)
	if err != nil {
		return nil, false
	}
	services = map[rollout.Ref]bool{}
	var all []revision.Object
	for _, p := range phases {
		all = append(all, p.Objects...)
	}
	for _, o := range all {
		switch kind := o.GroupVersionKind(); {
		case kind.Group == "" && kind.Kind == "Service":
			services[rollout.RefOf(o.Unstructured)] = true
		case kind.Group == "admissionregistration.k8s.io", kind.Group == "apiregistration.k8s.io", crd.ReadConverter(o.Unstructured).IsService():
			asked = true
		}
	}
	return services, asked
}
