package resolution

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"fairlead.dev/fairlead/resolve"
	"fairlead.dev/fairlead/version"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Extension decides what an extension should have. Its errors are a *Conflict, when there is no answer; a *resolve.BudgetExceeded; and that
// of the context. The result is nil only in the last case: what was looked at is told beside a conflict, too.
func Extension(ctx context.Context, in ExtensionRequest) (*ExtensionResult, error) {
	b := &extensionBuilder{in: in.canonical(), name: cmp.Or(in.Name, unnamed(in.Package, 0)), world: newWorld(), installed: map[string]resolve.Var{}}
	result, err := b.resolve(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	result.Record = b.record(result, err)
	return result, err
}

// extensionBuilder turns a Request into a resolve.Problem.
type extensionBuilder struct {
	in         ExtensionRequest
	name       string // of the extension, or what is known of it
	problem    resolve.Problem
	self       resolve.Var
	versions   version.Constraint
	catalogs   []*Catalog // those that are selected, of higher priority first
	unread     []*Catalog // those of them that have nothing that can be used
	blind      *Catalog   // the first of these that has to be waited for
	paused     bool       // a catalog that does not take part would be selected
	candidates []*candidate
	world      world
	installed  map[string]resolve.Var // those of the world that the problem speaks of, by the names of their extensions
	stakes     []stake
	trial      bool // it is decided on to see whether advice works; nothing is advised
	trials     int  // that were made to find advice
}

func (b *extensionBuilder) resolve(ctx context.Context) (*ExtensionResult, error) {
	if c := b.read(); c != nil {
		return b.result(nil), c
	}
	b.selfVar()
	if c := b.choose(); c != nil {
		return b.result(nil), c
	}
	if b.keeps() {
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
	return b.solve(ctx)
}

// read reads the range.
func (b *extensionBuilder) read() *Conflict {
	if b.in.Version == "" {
		return nil
	}
	var err error
	if b.versions, err = version.ParseConstraint(b.in.Version); err != nil {
		return b.plain(InvalidRange, fmt.Sprintf("desired version range %q is invalid: %v", b.in.Version, err), fieldVersion,
			fmt.Sprintf("correct %s of ClusterExtension %s", fieldVersion, b.name))
	}
	return nil
}

// choose finds the catalogs that the selector matches.
func (b *extensionBuilder) choose() *Conflict {
	selector := labels.Everything()
	if b.in.Selector != nil {
		var err error
		if selector, err = metav1.LabelSelectorAsSelector(b.in.Selector); err != nil {
			return b.plain(InvalidSelector, fmt.Sprintf("desired catalog selector is invalid: %v", err), fieldSelector,
				fmt.Sprintf("correct %s of ClusterExtension %s", fieldSelector, b.name))
		}
	}
	for i := range b.in.Catalogs {
		c := &b.in.Catalogs[i]
		if !selector.Matches(labels.Set(c.Labels)) {
			continue
		}
		if c.Disabled {
			b.paused = true
			continue
		}
		b.catalogs = append(b.catalogs, c)
		if b.trouble(c) != "" {
			b.unread = append(b.unread, c)
			if b.blind == nil && (b.in.RequireAll || c.loading() && b.in.Installed == nil) {
				b.blind = c
			}
		}
	}
	return nil
}

// keeps tells whether what is installed is all that is asked for, and there is no catalog to ask. A selected catalog that is disabled
// for now is one to ask.
func (b *extensionBuilder) keeps() bool {
	installed := b.in.Installed
	return len(b.catalogs) == 0 && !b.paused && installed != nil && b.suffices()
}

// suffices reports whether the installed version is one of those that are asked for.
func (b *extensionBuilder) suffices() bool {
	return b.versions.IsZero() || b.versions.Contains(b.in.Installed.Version.Version)
}

func (b *extensionBuilder) selfVar() {
	b.self = b.problem.Var("extension:" + b.name)
	b.problem.Order(b.self)
	b.problem.Require(b.self, b.origin("", "ClusterExtension %s exists", b.name))
}

// state states which candidates there are, and every rule about them. It ends early when the context does, which solving tells.
func (b *extensionBuilder) state(ctx context.Context) {
	b.stakes = b.findStakes()
	wanted := make([]resolve.Var, len(b.candidates))
	for i, c := range b.candidates {
		if ctx.Err() != nil {
			return
		}
		wanted[i] = c.v
		b.refuse(c)
		if len(c.refusals) == 0 && !b.isInstalled(c) {
			b.needs(c)
			if len(c.refusals) == 0 {
				b.guard(c)
			}
		}
	}
	o := b.origin(fieldPackage, "ClusterExtension %s requires package %s, of which %s", b.name, b.in.Package, b.offering())
	if c := b.unavailable(); c != nil {
		o.Text += fmt.Sprintf(", and catalog %s has no content that is available: %s", c.Name, b.trouble(c))
	}
	b.problem.Depends(b.self, wanted, o)
}

// solve finds the answer. When catalogs of the same priority have one each, there is none.
func (b *extensionBuilder) solve(ctx context.Context) (*ExtensionResult, error) {
	solution, err := resolve.Solve(ctx, &b.problem, resolve.Options{})
	var chosen *candidate
	if err == nil {
		chosen = b.chosen(&solution)
		if b.refuseAllTooNew(chosen) {
			return b.solve(ctx)
		}
		if b.rivals(chosen) {
			_, err = resolve.Solve(ctx, &b.problem, resolve.Options{})
		}
	}
	if err == nil {
		return b.result(chosen), nil
	}
	var core *resolve.Unsatisfiable
	if errors.As(err, &core) {
		conflict := b.conflict(ctx, core)
		if b.keepsInSpite(conflict) {
			return b.kept(), nil
		}
		return b.result(nil), conflict
	}
	return b.result(nil), err
}

func (b *extensionBuilder) chosen(solution *resolve.Solution) *candidate {
	for _, at := range solution.Decisions {
		for _, c := range b.candidates {
			if at.Subject == b.self && at.Chosen == c.v {
				return c
			}
		}
	}
	return nil
}

// rivals states that catalogs of one priority must not all have an answer, if the chosen one is in such a catalog, and tells whether it
// is. What is deprecated is no rival of what is not. Versions are not compared: which catalog to follow decides all upgrades to come.
func (b *extensionBuilder) rivals(chosen *candidate) bool {
	var offers []resolve.Var
	seen := map[*Catalog]bool{}
	for _, c := range b.candidates {
		if len(c.refusals) > 0 || seen[c.catalog] || c.deprecated() != chosen.deprecated() || c.catalog.Priority != chosen.catalog.Priority ||
			c != chosen && b.refuseTooNew(c) {
			continue
		}
		seen[c.catalog] = true
		offer := b.problem.Var("offer of catalog:" + c.catalog.Name)
		b.problem.Require(offer, b.offer(c))
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

func (b *extensionBuilder) offer(c *candidate) resolve.Origin {
	return resolve.Origin{
		Object: "ClusterCatalog " + c.catalog.Name, Field: "spec.priority", Catalog: c.catalog.Name, Digest: c.catalog.digest(),
		Text: fmt.Sprintf("catalog %s has %s and priority %d", c.catalog.Name, c.bundle.Name, c.catalog.Priority),
	}
}

// ambiguous are the names of the catalogs that a core calls equal, by name; none when it is about something else.
func (b *extensionBuilder) ambiguous(core []resolve.Clause) []string {
	var names []string
	limited := false
	for _, c := range core {
		limited = limited || c.Kind == resolve.Limited
	}
	if !limited {
		return nil
	}
	for _, c := range b.catalogs {
		if _, is := b.problem.Find("offer of catalog:" + c.Name); is {
			names = append(names, c.Name)
		}
	}
	return names
}
