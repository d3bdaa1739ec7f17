package clustercatalog

import (
	"context"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/image"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// recall returns what is known. Right after a start that is the content which the status names, if it is on disk: what was served before is
// served on, also while the registry is down. Of an object that was deleted, however quickly another one took its name, nothing is left.
func (c *Controller) recall(ctx context.Context, object *olmv1.ClusterCatalog, desired target) content {
	known, seen := c.memory.get(object.Name)
	if seen && known.uid != object.UID {
		c.drop(ctx, object.Name)
		known, seen = content{}, false
	}
	if !seen {
		known = c.restore(ctx, object)
	}
	if known.target == desired && seen {
		return known
	}
	known.target, known.reached, known.problem, known.attempts, known.looked = desired, false, nil, 0, time.Time{}
	return c.resume(object, known)
}

// restore opens the content that the status names.
func (c *Controller) restore(ctx context.Context, object *olmv1.ClusterCatalog) content {
	known := content{uid: object.UID}
	resolved := resolvedRef(object)
	if resolved == "" {
		return known
	}
	index, ok := c.indexes.Get(ctx, digestOf(resolved))
	if !ok {
		index, ok = c.indexes.Earlier(ctx, digestOf(resolved)) // until the image is read again, which may not be to be had
		known.earlier = ok
	}
	if !ok {
		return known
	}
	known.index, known.resolved, known.unpacked = index, resolved, c.clock.Now()
	known.signatures = image.Restored(c.verifier, requested(object, resolved))
	if at := object.Status.LastUnpacked; at != nil {
		known.unpacked = at.Time
	}
	return known
}

// resume continues where an earlier run, or the manager that led before, has ended. Content that the status calls the desired one need not be
// looked for again, unless newer content is to be looked for from time to time: then it is, right away.
func (c *Controller) resume(object *olmv1.ClusterCatalog, known content) content {
	if known.index == nil || known.earlier || known.signatures.Pending || known.resolved != resolvedRef(object) {
		return known
	}
	if !known.target.leads {
		known.reached, known.looked = true, c.clock.Now()
		return known
	}
	p := meta.FindStatusCondition(object.Status.Conditions, olmv1.TypeProgressing)
	if p == nil || p.Status != metav1.ConditionTrue || p.Reason != olmv1.ReasonSucceeded || p.ObservedGeneration != object.Generation {
		return known
	}
	known.reached = true
	if _, polls := pollInterval(object); !polls {
		known.looked = c.clock.Now()
	}
	return known
}
