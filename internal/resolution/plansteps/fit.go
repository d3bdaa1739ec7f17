package plansteps

import (
	"context"
	"encoding/json"
	"fmt"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

const (
	// MaxInlined bounds, in bytes of JSON, the manifests that a plan holds itself. Further ones are references into the content store.
	MaxInlined = 512 << 10
	// MaxContent bounds, in bytes of JSON, the steps and bundle lookups of a plan. etcd takes 1.5 MiB by default: what is left over has room for
	// all annotations that an object may have (256 KiB), for the messages of every pass, and for managed fields.
	MaxContent = 1 << 20
	// referenced is the size in bytes of JSON from which a reference is smaller than the manifest.
	referenced = 256
)

// Fit keeps the content of a plan small enough for the plan to be written, now and whenever its status changes. It turns inlined manifests into
// references from the step on where they exceed MaxInlined. Subscriptions stay: no bundle holds them, so they could not be restored from one.
// Content that exceeds MaxContent even so is refused with an error that wraps bundle.ErrUnwritable.
func (w Writer) Fit(ctx context.Context, status *v1alpha1.InstallPlanStatus) error {
	inlined := 0
	for _, s := range status.Plan {
		size := encodedSize(s.Resource.Manifest)
		if size > referenced && inlined+size > MaxInlined && s.Resource.Kind != v1alpha1.SubscriptionKind {
			text, err := w.Manifests.Store(ctx, []byte(s.Resource.Manifest))
			if err != nil {
				return fmt.Errorf("plan %s %s of bundle %s: %w", s.Resource.Kind, s.Resource.Name, s.Resolving, err)
			}
			s.Resource.Manifest, size = text, encodedSize(text)
		}
		inlined += size
	}
	content := encodedSize(v1alpha1.InstallPlanStatus{Plan: status.Plan, BundleLookups: status.BundleLookups})
	if content > MaxContent {
		return fmt.Errorf("list the %d objects of the bundles in one InstallPlan: %w: the list has %d bytes without the manifests, and the limit is %d: "+
			"ask the authors of the bundles for fewer objects, such as one ConfigMap in place of many", len(status.Plan), bundle.ErrUnwritable, content, MaxContent)
	}
	return nil
}

// encodedSize is the size of a value as the API server stores it.
func encodedSize(value any) int {
	text, err := json.Marshal(value)
	if err != nil {
		return MaxContent + 1 // texts and lists of them always encode
	}
	return len(text)
}
