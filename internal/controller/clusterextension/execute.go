package clusterextension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/internal/schedule"

	"k8s.io/utils/lru"
)

// execute takes the next step of an extension: it writes a revision, or reports what keeps one from being written.
func (c *Controller) execute(ctx context.Context, s *state, step desired.Step, o *outcome) error {
	switch step.Action {
	case desired.Keep:
		// Remove what is not needed any more, of an extension that has what it is to have.
		c.fetcher.rendered.Remove(s.ext.Name)
		if s.revisions.Installed() == s.revisions.Newest() && o.conflict == nil && len(o.advice) == 0 {
			if err := c.dependencies.sweep(ctx, s, false); err != nil {
				return err
			}
		}
		// Remove revisions that are too old, but for the one that the user returns to.
		if len(s.revisions) <= revision.Retention {
			return nil
		}
		var all []olmv1.ClusterObjectSet
		for i := range s.revisions {
			if strconv.FormatInt(s.revisions[i].Spec.Revision, 10) != s.ext.Annotations[desired.RollbackToKey] {
				all = append(all, s.revisions[i])
			}
		}
		return revision.Retain(ctx, c.writer.client, all)
	case desired.Write:
	default:
		if step.Err != nil {
			o.problem = step.Err
		}
		o.soonest(step.After)
		if step.Action != desired.Refuse || step.Target == nil {
			c.fetcher.rendered.Remove(s.ext.Name)
		}
		return nil
	}
	o.reason = step.Reason
	err := c.bring(ctx, s, step, o)
	if step.Otherwise == nil || o.problem == nil && !revision.Lost(err) {
		return err
	}
	barred := errors.Join(err, o.problem)
	reconcile.Log(ctx, s.ext).Info("rollback refused", "revision", step.Target.Source.Name, "reason", messages.Error(barred))
	if err := c.execute(ctx, s, *step.Otherwise, o); err != nil {
		return err
	}
	if o.problem != nil {
		o.problem = errors.Join(o.problem, barred)
	}
	return nil
}

// bring makes a revision of the target of a step, unless something is in the way.
func (c *Controller) bring(ctx context.Context, s *state, step desired.Step, o *outcome) error {
	t, change := step.Target, step.Target.Change(s.ext, s.revisions)
	if o.problem = c.preflight.checks().Identity(ctx, s.ext); o.problem != nil {
		o.soonest(recheck)
		return nil
	}
	if o.problem = c.preflight.checks().Namespace(ctx, s.ext); o.problem != nil {
		return nil
	}
	if o.problem = c.preflight.checks().Upgradeable(ctx, change); o.problem != nil {
		return nil
	}
	made, err := c.fetcher.content(ctx, s, step, o)
	if err != nil || made == nil {
		return err
	}
	if o.problem = c.adopter.adopt(ctx, s, t, made); o.problem != nil {
		o.soonest(recheck)
		return nil
	}
	change.Objects = made.objects
	if o.problem = c.preflight.check(ctx, s, change, o); o.problem != nil {
		return nil
	}
	if o.held = c.held(ctx, step); o.held != nil { // everything is at hand and checked when it may begin
		o.soonest(reconcile.UntilUpgrade(o.held, c.Clock.Now()))
		return nil
	}
	if err := c.certificates.trust(ctx, s, made); err != nil { // certificates are made for what is let in
		return err
	}
	var needed []byte // the serving certificates, as they are noted on the revision
	if len(made.serving) > 0 {
		if needed, err = json.Marshal(made.serving); err != nil {
			return fmt.Errorf("note the serving certificates of bundle %s: %w", t.Name, err)
		}
	}
	notes := t.Annotations(s.ext, made.inputs, map[string]string{olmv1.PropertiesKey: made.properties, desired.ProviderKey: string(made.provider), servingKey: string(needed),
		authoritiesKey: made.authorities, conditionKey: made.condition, revision.ConditionNameKey: made.conditionName, adoptedKey: made.adopted, verificationKey: made.verification})
	return c.writer.write(ctx, s, revision.Options{Objects: made.objects, Adopted: made.found, Annotations: notes, ServiceAccount: revision.AccountOf(s.ext),
		ProgressDeadlineMinutes: revision.ProgressDeadlineMinutes(s.ext)}, o)
}

// held returns why the upgrade that a step begins waits; nil where it may begin. The gate is asked last.
func (c *Controller) held(ctx context.Context, step desired.Step) *schedule.Held {
	if step.Held != nil || step.Upgrade == nil || c.UpgradeGate == nil {
		return step.Held
	}
	return c.UpgradeGate.Ask(ctx, *step.Upgrade)
}

// writer writes revisions, and removes old ones.
type writer struct {
	*environment
	rendered *lru.Cache
}

// write makes a revision. Where the newest one has the same objects, only what is noted on it changes. What is the same for every revision
// of the extension is not among the options that are given.
func (w *writer) write(ctx context.Context, s *state, options revision.Options, o *outcome) error {
	options.Extension = revision.Extension{Name: s.ext.Name, UID: s.ext.UID, Namespace: s.ext.Spec.Namespace}
	options.Number, options.SystemNamespace, options.CollisionProtection = s.revisions.Next(), w.SystemNamespace, revision.Protection(s.ext)
	built, err := revision.Build(options)
	if err != nil {
		o.problem = revision.Blocked(err)
		return nil
	}
	newest := s.revisions.Newest()
	same := newest != nil && newest.Annotations[revision.DigestKey] == built.Set.Annotations[revision.DigestKey]
	if same {
		options.Number = newest.Spec.Revision
		if built, err = revision.Build(options); err != nil {
			o.problem = revision.Blocked(err)
			return nil
		}
	}
	if err := revision.Write(ctx, w.client, built); err != nil {
		return err
	}
	w.rendered.Remove(s.ext.Name)
	if !same {
		o.made = built.Set
		reconcile.Log(ctx, s.ext).Info("revision written", "revision", built.Set.Name, "bundle", built.Set.Annotations[olmv1.BundleNameKey], "reason", o.reason)
	}
	return nil
}
