package resolution

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
)

// Extension decides what an extension should have. Its errors are a *Conflict, when there is no answer; a *resolve.BudgetExceeded; and that
// of the context. The result is nil only in the last case: what was checked is told beside a conflict, too.
func Extension(ctx context.Context, in ExtensionRequest) (*ExtensionResult, error) {
	b := newExtension(in, world{rules: map[string]readConstraint{}}, false)
	result, err := b.resolve(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	result.Record = b.record(result, err)
	return result, err
}

// extensionFront is the front of the v1 API: one ClusterExtension, beside what others have installed.
type extensionFront struct {
	*requirements
	self       resolve.Var
	candidates candidates
	chosen     *candidate // by the last solution
}

// extensionMaxTrials is how often is tried, for one conflict, whether advice works.
const extensionMaxTrials = 12

func newExtension(in ExtensionRequest, w world, trial bool) *extensionFront {
	wanted := &selection{builder: &builder{budget: resolve.DefaultMaxSteps, trials: extensionMaxTrials, trial: trial}, in: in.canonical(), name: cmp.Or(in.Name, unnamed(in.Package, 0))}
	b := &extensionFront{requirements: &requirements{selection: wanted, world: w, installed: map[string]resolve.Var{}}}
	b.front = b
	return b
}

func (b *extensionFront) requested(v resolve.Var) bool { return v == b.self }

// recheck refuses what needs a newer Kubernetes, from the chosen candidate down to the first that does not, and answers that catalogs of the
// same priority give to the same question.
func (b *extensionFront) recheck(_ *resolve.Problem, solution *resolve.Solution) bool {
	b.chosen = nil
	for _, at := range solution.Decisions {
		for _, c := range b.candidates {
			if at.Subject == b.self && at.Chosen == c.v {
				b.chosen = c
			}
		}
	}
	if b.chosen == nil {
		return false
	}
	if !b.refuseTooNew(b.chosen) {
		// State that catalogs of one priority must not all have an answer, if the chosen one is in such a catalog, and tell whether it
		// is. What is deprecated is no rival of what is not. Versions are not compared: which catalog to follow decides all upgrades to
		// come.
		chosen := b.chosen
		var offers []resolve.Var
		seen := map[*Catalog]bool{}
		for _, c := range b.candidates {
			if len(c.refusals) > 0 || seen[c.catalog] || c.deprecated() != chosen.deprecated() || c.catalog.Priority != chosen.catalog.Priority ||
				c != chosen && b.refuseTooNew(c) {
				continue
			}
			seen[c.catalog] = true
			offer := b.problem.Var("offer of catalog:" + c.catalog.Name)
			b.problem.Require(offer, resolve.Origin{
				Object: "ClusterCatalog " + c.catalog.Name, Field: "spec.priority", Catalog: c.catalog.Name, Digest: c.catalog.digest(),
				Text: fmt.Sprintf("catalog %s has %s and priority %d", c.catalog.Name, c.bundle.Name, c.catalog.Priority),
			})
			offers = append(offers, offer)
		}
		if len(offers) < 2 {
			return false
		}
		origin := b.origin(fieldSelector, "the catalogs have the same priority, and only one of them can be followed")
		origin.Hint = fmt.Sprintf("let %s select one of them with matchLabels %s: %s, or give one of the ClusterCatalogs a higher spec.priority",
			fieldSelector, LabelName, chosen.catalog.Name)
		b.problem.AtMostOne(offers, origin)
		return true
	}
	for _, c := range b.candidates {
		if len(c.refusals) == 0 && !b.refuseTooNew(c) {
			break
		}
	}
	return true
}

func (b *extensionFront) resolve(ctx context.Context) (*ExtensionResult, error) {
	if c := b.read(); c != nil {
		return b.answer(nil), c
	}
	b.self = b.problem.Var("extension:" + b.name)
	b.problem.Order(b.self)
	b.problem.Require(b.self, b.origin("", "ClusterExtension %s exists", b.name))
	if c := b.choose(); c != nil {
		return b.answer(nil), c
	}
	// Without a catalog to ask, what is installed stays if it is all that is requested. A selected catalog that is disabled for now is one to ask.
	if len(b.catalogs) == 0 && !b.paused && b.in.Installed != nil && b.suffices() {
		return &ExtensionResult{Change: ChangeKeep, Notes: []string{
			fmt.Sprintf("no catalog is selected, so %s stays: there can be no upgrade", b.in.Installed.Name)}}, nil
	}
	b.collect()
	b.facts()
	if trouble := b.nothingToChoose(); trouble != nil {
		b.problem.Depends(b.self, nil, *trouble)
	} else {
		b.state(ctx)
	}
	_, err := b.solve(ctx, &b.problem)
	var core *resolve.Unsatisfiable
	switch {
	case err == nil:
		return b.answer(b.chosen), nil
	case !errors.As(err, &core):
		return b.answer(nil), err
	}
	conflict, result := b.explain(ctx, core, 0, []string{b.name}), b.answer(nil)
	if b.in.Installed == nil || b.in.RequireAll || !b.suffices() {
		return result, conflict
	}
	// What is installed stays, although there is no answer: it is what is asked for, and what could have led on from it cannot be used. No mistake in
	// a catalog is one of the extension.
	switch conflict.Reason {
	case PackageNotFound, ChannelNotFound, VersionNotFound, NoSuccessor, DowngradeRefused:
		if b.leftOut(nil) == "" {
			break
		}
		fallthrough
	case CatalogUnavailable:
		result.Change = ChangeKeep
		b.leave(result, nil)
		return result, nil
	}
	return result, conflict
}

// collect lists the bundles of the package in the selected catalogs, the most wanted first.
func (b *extensionFront) collect() {
	for _, source := range b.catalogs {
		p, ok := b.packageOf(source)
		if !ok {
			continue
		}
		known := map[*catalog.BundleInfo]*candidate{}
		for _, channel := range p.Channels {
			for _, e := range channel.Entries {
				c := known[e.Bundle]
				if c == nil {
					c = &candidate{catalog: source, bundle: e.Bundle, version: catalog.Released(e.Bundle.Version)}
					known[e.Bundle] = c
					b.candidates = append(b.candidates, c)
				}
				c.all = append(c.all, channel.Name)
				if b.follows(channel.Name) {
					c.channels = append(c.channels, channel.Name)
					c.entries = append(c.entries, e)
				}
			}
		}
	}
	slices.SortFunc(b.candidates, b.prefer)
	for _, c := range b.candidates {
		c.all, c.channels = inOrder(c.all), inOrder(c.channels)
		c.v = b.problem.Var("bundle:" + c.catalog.Name + "/" + c.bundle.Name)
	}
}

// state states which candidates there are, and every rule about them. It ends early when the context does, which solving tells.
func (b *extensionFront) state(ctx context.Context) {
	b.stakes = b.findStakes()
	wanted := make([]resolve.Var, len(b.candidates))
	for i, c := range b.candidates {
		if ctx.Err() != nil {
			return
		}
		wanted[i] = c.v
		// Apply the rules that check one candidate alone.
		if len(c.entries) == 0 {
			b.add(c, ruleChannel, b.originOf(c, fieldChannels, "%s is in %s, and the extension follows %s",
				c.bundle.Name, list("channel", c.all), list("channel", b.in.Channels)), "version in the channels that the extension follows")
		}
		if !b.versions.IsZero() && !b.versions.Contains(c.bundle.Version.Version) {
			b.add(c, ruleRange, b.originOf(c, fieldVersion, "%s has version %s, which is not in range %q", c.bundle.Name, c.bundle.WrittenVersion(), b.in.Version),
				"version in the range")
		}
		if in := b.in.Installed; in != nil && len(c.entries) > 0 && b.in.Policy != SelfCertified &&
			c.version.Compare(catalog.Released(in.Version)) != 0 && !follows(c, in) {
			b.add(c, ruleEdge, b.originOf(c, fieldPolicy, "nothing upgrades from the installed %s to %s: in %s it neither replaces nor skips %s, and no skipRange of it contains %s",
				b.in.Installed.Name, c.bundle.Name, list("channel", c.channels), b.in.Installed.Name, b.in.Installed.Version), "upgrade edge")
		}
		if b.blind != nil && (c.deprecated() || c.catalog.Priority <= b.blind.Priority) { // that could have something that is wanted as much, or more
			b.add(c, ruleHidden, b.originOf(c, fieldSelector, "%s of catalog %s may not be the best: catalog %s, whose content would come first or beside it, has none that is available: %s",
				c.bundle.Name, c.catalog.Name, b.blind.Name, b.trouble(b.blind)), "hidden")
		}
		if len(c.refusals) == 0 && !b.isInstalled(c) {
			b.needs(c)
			if len(c.refusals) == 0 {
				b.guard(c)
			}
		}
	}
	count := fmt.Sprintf("there are %d versions", len(b.candidates))
	if len(b.candidates) == 1 {
		count = "there is 1 version"
	}
	o := b.origin(fieldPackage, "ClusterExtension %s requires package %s, of which %s in %s", b.name, b.in.Package, count,
		list("catalog", b.names(func(c *Catalog) bool { _, has := b.packageOf(c); return has })))
	if c := b.unavailable(); c != nil {
		o.Text += fmt.Sprintf(", and catalog %s has no content that is available: %s", c.Name, b.trouble(c))
	}
	b.problem.Depends(b.self, wanted, o)
}

// add notes that a candidate is refused, and states the first reason of it.
func (b *extensionFront) add(c *candidate, r refusalRule, o resolve.Origin, alike string) {
	o.Alike = alike
	c.refusals = append(c.refusals, refusal{rule: r, origin: o})
	if len(c.refusals) == 1 {
		b.problem.Forbid(c.v, o)
	}
}

// ambiguous are the names of the catalogs that a core calls equal, by name; none when it is about something else.
func (b *extensionFront) ambiguous(core []resolve.Clause) []string {
	if !slices.ContainsFunc(core, func(c resolve.Clause) bool { return c.Kind == resolve.Limited }) {
		return nil
	}
	return b.names(func(c *Catalog) bool {
		_, is := b.problem.Find("offer of catalog:" + c.Name)
		return is
	})
}
