package clusterextension

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

const (
	// minPause is the least time between two attempts at something that failed.
	minPause = time.Second
	// recheck is when what is in the way is looked at again, besides whenever an event suggests it.
	recheck = time.Minute
)

// checks are those that come before a revision is written.
func (c *Controller) checks() revision.Preflight {
	return revision.Preflight{Client: c.client, Live: c.live, Count: c.count, Policies: c.Policies, Backs: c.backs}
}

// step is what an extension would be changed to.
func (s *state) step(made *content) revision.Change {
	return revision.Change{Extension: s.ext, Revisions: s.revisions, Objects: made.objects, Repeated: made.repeated,
		Bundle: revision.Bundle{Name: made.name, Version: made.version, Image: made.image, Content: made.digest, Direct: s.ext.Annotations[snapshot.BundleImageKey] != ""}}
}

// preflight makes the checks that come before anything is written, and returns what they refuse.
func (c *Controller) preflight(ctx context.Context, s *state, made *content, o *outcome) error {
	step := s.step(made)
	crds := func() error { return c.checkCRDs(ctx, s, step) }
	rest := []func() error{
		func() error { return c.checkDropped(ctx, s, step) },
		func() error {
			if err := c.checks().Account(ctx, step); err != nil {
				return permissionProblem{err}
			}
			return nil
		},
		func() error { return c.checks().Increase(ctx, step) },
	}
	checks := append([]func() error{crds}, rest...)
	if step.Repeated { // the way back may need all custom resources to be read: that comes last, and is done when nothing else is in the way
		checks = append(rest, crds)
	}
	var problem error
	for i := 0; i < len(checks) && problem == nil; i++ {
		problem = checks[i]()
	}
	if problem != nil {
		o.soonest(recheck)
	}
	return problem
}

// permissionProblem is one that a change of roles and bindings may end.
type permissionProblem struct{ error }

// Unwrap returns what it is about.
func (p permissionProblem) Unwrap() error { return p.error }

// checkCRDs refuses upgrades of CustomResourceDefinitions that could break stored objects.
func (c *Controller) checkCRDs(ctx context.Context, s *state, step revision.Change) error {
	all, err := c.checks().Definitions(ctx, step)
	if err != nil {
		return err
	}
	problem := revision.Unsafe(all)
	if problem == nil || step.Repeated {
		return s.staysFailed(problem, step)
	}
	reports := map[string]string{}
	for _, d := range all {
		if d.Err != nil {
			reports[d.Name] = crd.Report(d.Name, d.Findings)
		}
	}
	where, err := c.writeReport(ctx, step.Extension, reports)
	if err != nil {
		return errors.Join(problem, err)
	}
	return fmt.Errorf("%w\n%s has all findings, with what to do about each; to upgrade nevertheless, exempt checks with annotation %s, or set "+
		"spec.install.preflight.crdUpgradeSafety.enforcement to None", problem, where, CRDExemptionsKey)
}

// checkDropped refuses content without a CustomResourceDefinition that active revisions have: they would take it, and all custom resources,
// with them.
func (c *Controller) checkDropped(ctx context.Context, s *state, step revision.Change) error {
	dropped, err := c.checks().Dropped(ctx, step)
	if err != nil {
		return err
	}
	return s.staysFailed(revision.DroppedError(dropped), step)
}

// staysFailed adds to what bars an automatic step back that the failed revision stays.
func (s *state) staysFailed(err error, step revision.Change) error {
	if _, asked := s.ext.Annotations[RollbackToKey]; err != nil && step.Repeated && !asked {
		return fmt.Errorf("%w\nso revision %s, whose rollout has failed, stays, and is not rolled back", err, s.revisions.newest().Name)
	}
	return err
}
