package clusterextension

import (
	"context"
	"errors"
	"strconv"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// bringBest makes a revision of the target or, where that is to go back from a failed roll-out and is refused, of what catalogs have by then:
// otherwise a way back that is barred would bar the repair as well.
func (c *Controller) bringBest(ctx context.Context, s *state, t *target, o *outcome) error {
	err := c.bring(ctx, s, t, o)
	if t.otherwise == nil || o.problem == nil && !revision.Lost(err) {
		return err
	}
	barred := errors.Join(err, o.problem)
	if err := c.bring(ctx, s, t.otherwise, o); err != nil {
		return err
	}
	if o.problem != nil {
		o.problem = errors.Join(o.problem, barred)
	}
	return nil
}

// bring makes a revision of the target, unless the newest one is of it already: then nothing is fetched, rendered or written.
func (c *Controller) bring(ctx context.Context, s *state, t *target, o *outcome) error {
	newest := s.revisions.newest()
	inputs := t.inputs(s.ext, c.providerFor(ctx, newest))
	if t.is(newest, inputs) {
		return c.tidy(ctx, s, o)
	}
	if t.source == nil {
		if o.problem = s.undoneBefore(inputs); o.problem != nil {
			return nil
		}
	}
	if o.problem = c.checks().Identity(ctx, s.ext); o.problem != nil {
		o.soonest(recheck)
		return nil
	}
	o.problem = c.checks().Namespace(ctx, s.ext)
	if o.problem == nil {
		o.problem = c.checks().Upgradeable(ctx, revision.Change{Extension: s.ext, Revisions: s.revisions, Bundle: revision.Bundle{Name: t.Name}, Repeated: t.source != nil})
	}
	if o.problem != nil {
		return nil
	}
	made, err := c.content(ctx, s, t, inputs, o)
	if err != nil || made == nil {
		return err
	}
	if o.problem = c.adopt(ctx, s, t, made); o.problem != nil {
		o.soonest(recheck)
		return nil
	}
	if o.problem = c.preflight(ctx, s, made, o); o.problem != nil {
		return nil
	}
	if err := c.trust(ctx, s, made); err != nil { // certificates are made for what is let in
		return err
	}
	return c.write(ctx, s, revision.Options{Objects: made.objects, Adopted: made.found, Annotations: c.notes(s, t, made), ServiceAccount: revision.AccountOf(s.ext),
		ProgressDeadlineMinutes: revision.ProgressDeadlineMinutes(s.ext)}, o)
}

// is tells whether a revision is of the target.
func (t *target) is(r *olmv1.ClusterObjectSet, inputs string) bool {
	if r == nil {
		return false
	}
	if t.source != nil {
		return r.Name == t.source.Name || r.Annotations[copyKey] == t.source.Name || r.Annotations[copyKey] != "" && r.Annotations[copyKey] == t.source.Annotations[copyKey]
	}
	return r.Annotations[inputsKey] == inputs
}

// write makes a revision. Where the newest one has the same objects, only what is noted on it changes. What is the same for every revision
// of the extension is not among the options that are given.
func (c *Controller) write(ctx context.Context, s *state, options revision.Options, o *outcome) error {
	options.Extension = revision.Extension{Name: s.ext.Name, UID: s.ext.UID, Namespace: s.ext.Spec.Namespace}
	options.Number, options.SystemNamespace, options.CollisionProtection = s.revisions.next(), c.SystemNamespace, olmv1.CollisionProtectionPrevent
	built, err := revision.Build(options)
	if err != nil {
		o.problem = blocked(err)
		return nil
	}
	newest := s.revisions.newest()
	same := newest != nil && revision.Digest(newest) == revision.Digest(built.Set)
	if same {
		options.Number = newest.Spec.Revision
		if built, err = revision.Build(options); err != nil {
			o.problem = blocked(err)
			return nil
		}
	}
	if err := revision.Write(ctx, c.client, built); err != nil {
		return err
	}
	c.rendered.Delete(s.ext.Name)
	if !same {
		o.made = built.Set
	}
	return nil
}

// notes are the annotations of a revision.
func (c *Controller) notes(s *state, t *target, made *content) map[string]string {
	all := t.annotations()
	all[inputsKey], all[generationKey] = made.inputs, strconv.FormatInt(s.ext.Generation, 10)
	for key, value := range map[string]string{olmv1.PropertiesKey: made.properties, providerKey: string(made.provider), servingKey: made.servingText(), authoritiesKey: made.authorities,
		conditionKey: made.condition, conditionNameKey: made.conditionName, adoptedKey: made.adopted, verificationKey: made.verification, snapshot.BundleImageKey: s.ext.Annotations[snapshot.BundleImageKey]} {
		if value != "" {
			all[key] = value
		}
	}
	if t.source != nil {
		all[copyKey] = t.source.Name
	}
	if t.undone != nil {
		all[failedKey], all[failedNameKey] = t.undone.Annotations[inputsKey], t.undone.Name
	}
	return all
}

// tidy removes what is not needed any more, of an extension that has what it is to have.
func (c *Controller) tidy(ctx context.Context, s *state, o *outcome) error {
	c.rendered.Delete(s.ext.Name)
	if s.revisions.installed() == s.revisions.newest() && o.conflict == nil && len(o.advice) == 0 {
		if err := c.sweep(ctx, s, false); err != nil {
			return err
		}
	}
	return c.retain(ctx, s)
}

// retain removes revisions that are too old, but for the one that the user goes back to.
func (c *Controller) retain(ctx context.Context, s *state) error {
	if len(s.revisions) <= revision.Retention {
		return nil
	}
	var all []olmv1.ClusterObjectSet
	for i := range s.revisions {
		if strconv.FormatInt(s.revisions[i].Spec.Revision, 10) != s.ext.Annotations[RollbackToKey] {
			all = append(all, s.revisions[i])
		}
	}
	return revision.Retain(ctx, c.client, all)
}
