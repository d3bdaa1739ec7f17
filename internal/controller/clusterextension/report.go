package clusterextension

import (
	"context"
	"errors"
	"fmt"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// report writes the status when it says something new. Events and metrics follow what was written. The error is that of the pass, which the
// queue repeats.
func (c *Controller) report(ctx context.Context, s *state, o *outcome, failure error) error {
	if overtaken(failure) {
		return failure // the next pass sees what this one did not
	}
	if failure != nil && o.problem == nil {
		o.problem = failure
	}
	if !o.waits { // until it is known what the next decision rests on, all news concern it
		c.remember(s, o)
	}
	after := s.ext.DeepCopy()
	after.Status = view{ext: s.ext, revisions: s.revisions, outcome: o}.status(c.Clock.Now())
	if err := c.publish(ctx, s.ext, after); err != nil {
		return errors.Join(failure, err)
	}
	c.tell(s.ext, after, o)
	if !o.waits {
		c.Metrics.observe(after, o)
	}
	return failure
}

// publish writes a status that says something new.
func (c *Controller) publish(ctx context.Context, before, after *olmv1.ClusterExtension) error {
	if equality.Semantic.DeepEqual(before.Status, after.Status) {
		return nil
	}
	err := c.client.Status().Patch(ctx, after, client.MergeFrom(before), fieldOwner)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the status of ClusterExtension %s: %w", before.Name, err)
	}
	return nil
}

// overtaken tells whether a write failed because something has changed that the caches did not tell of yet: nobody has to hear of that.
func overtaken(err error) bool {
	var exists *revision.ExistsError
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || errors.As(err, &exists)
}
