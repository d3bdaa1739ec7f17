package clusterextension

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/version"
)

// settles is how long a roll-out is left alone when only catalogs have something else to offer by then: to exchange an upgrade halfway
// for another one every time that a catalog is published would be worse than to finish it. Another spec does not wait.
const settles = 5 * time.Minute

// wanted decides what the extension is to have; nil means that everything is to stay as it is, and the outcome says why.
func (c *Controller) wanted(ctx context.Context, s *state, o *outcome) *target {
	found := c.resolve(ctx, s, o)
	if text, ok := s.ext.Annotations[RollbackToKey]; ok {
		o.conflict = nil // what catalogs have does not matter
		if pin, err := pinned(s, text); err != nil {
			o.problem = err
		} else {
			return pin
		}
		return nil
	}
	if found == nil {
		return nil
	}
	newest := s.revisions.newest()
	if back := s.goBack(newest); back != nil {
		if found.Name != newest.Annotations[olmv1.BundleNameKey] {
			back.otherwise = found
		}
		return back
	}
	if newest == nil || s.revisions.installed() == newest {
		return found
	}
	if wait := s.leaves(newest, found, c.Clock.Now()); wait > 0 {
		o.soonest(wait)
		return nil
	}
	return found
}

// resolve asks the catalogs.
func (c *Controller) resolve(ctx context.Context, s *state, o *outcome) *target {
	in, err := c.request(ctx, s)
	if err != nil {
		o.problem = err
		return nil
	}
	if _, back := s.ext.Annotations[RollbackToKey]; !back && !c.fromImage(ctx, s, &in, o) {
		return nil
	}
	o.unmet = resolution.Unmet(in)
	o.resolved, err = resolution.Extension(ctx, in)
	switch {
	case errors.As(err, &o.conflict):
		return c.keeps(s, in.Version)
	case err != nil:
		o.problem = fmt.Errorf("decide which bundle to have: %w", err)
		return nil
	case o.resolved.Bundle == nil:
		o.leftOut = o.resolved.LeftOut
		return c.keeps(s, in.Version)
	}
	if held := o.resolved.Held; held != nil && held.Upgrades == 0 {
		o.notes = append(o.notes, fmt.Sprintf("%s is held back: %s", held.Wanted, held.Reason))
		if held.Advice != "" {
			o.notes = append(o.notes, held.Advice)
		}
	}
	o.leftOut = o.resolved.LeftOut
	return offered(o.resolved, in.Catalogs)
}

// keeps is what is kept up when catalogs have nothing: another configuration is no matter of theirs. It is what rolls out or else what is
// installed, as long as that is what is asked for; nil when it is not.
func (c *Controller) keeps(s *state, in string) *target {
	if r := keptOf(s.revisions, in, c.installedOf); r != nil {
		return kept(r)
	}
	return nil
}

func keptOf(all revisions, in string, installedOf func(*olmv1.ClusterObjectSet) (*resolution.Installed, error)) *olmv1.ClusterObjectSet {
	for _, r := range []*olmv1.ClusterObjectSet{all.newest(), all.installed()} {
		if r == nil {
			continue
		}
		if is, err := installedOf(r); err == nil && asksFor(in, is.Version) {
			return r
		}
	}
	return nil
}

// asksFor tells whether a range has a version.
func asksFor(text string, v version.VersionRelease) bool {
	if text == "" {
		return true
	}
	in, err := version.ParseConstraint(text)
	return err == nil && in.Contains(v.Version)
}

// pinned is the revision that the user wants back.
func pinned(s *state, text string) (*target, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, misconfigured(fmt.Errorf("annotation %s is %q, which is not the number of a revision", RollbackToKey, text))
	}
	if r := s.revisions.numbered(n); r != nil {
		return repeated(r), nil
	}
	if newest := s.revisions.newest(); newest != nil && newest.Annotations[copyKey] == revision.Name(s.ext.Name, n) {
		return repeated(newest), nil // it was gone back to before it was removed as too old
	}
	return nil, misconfigured(fmt.Errorf("annotation %s asks for revision %d, which is not there: the %d newest are kept; correct or remove the annotation",
		RollbackToKey, n, revision.Retention))
}

// goBack is what was installed, when the roll-out of what came after it has failed and the user wants it back then.
func (s *state) goBack(newest *olmv1.ClusterObjectSet) *target {
	installed := s.revisions.installed()
	if !s.goesBack() || newest == nil || installed == nil || newest == installed || !failed(newest) || newest.Annotations[copyKey] != "" {
		return nil
	}
	if s.asksForElse(newest) {
		return nil
	}
	if newest.Annotations[inputsKey] == installed.Annotations[inputsKey] {
		return nil // it repeats what is installed, and trusts other certificates
	}
	t := repeated(installed)
	t.undone = newest
	return t
}

func (s *state) goesBack() bool { return revision.RollsBack(s.ext) }

// generation is that of the ClusterExtension which a revision was made for.
func generation(r *olmv1.ClusterObjectSet) int64 {
	n, err := strconv.ParseInt(r.Annotations[generationKey], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// asksForElse tells whether the extension asks for something else since a revision was made. An annotation raises no generation.
func (s *state) asksForElse(r *olmv1.ClusterObjectSet) bool {
	return generation(r) != s.ext.Generation || r.Annotations[snapshot.BundleImageKey] != s.ext.Annotations[snapshot.BundleImageKey]
}

// leaves is for how long a roll-out is not disturbed although something else is to be had; zero when it does not matter.
func (s *state) leaves(newest *olmv1.ClusterObjectSet, found *target, now time.Time) time.Duration {
	if s.asksForElse(newest) || failed(newest) || found.Name == newest.Annotations[olmv1.BundleNameKey] {
		return 0
	}
	return newest.CreationTimestamp.Add(settles).Sub(now)
}

// undoneBefore is why a target is not tried again: its roll-out failed, and was gone back from.
func (s *state) undoneBefore(inputs string) error {
	newest := s.revisions.newest()
	if !s.goesBack() || newest == nil || newest.Annotations[failedKey] == "" || newest.Annotations[failedKey] != inputs {
		return nil
	}
	return blocked(fmt.Errorf("the roll-out of revision %s failed, and revision %s went back to what was installed before; to try again, change the "+
		"spec of the ClusterExtension or remove its annotation %s", newest.Annotations[failedNameKey], newest.Name, OnFailureKey))
}
