package resolution

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
)

// Conflict says why there is no answer for some Subscriptions or a ClusterExtension, or why a newer version cannot be had.
type Conflict struct {
	// Reason is the class of a ClusterExtension's conflict.
	Reason Reason `json:"reason,omitempty"`
	// Summary is the conflict in one sentence.
	Summary string `json:"summary"`
	// Chain are the rules that cannot hold together; none of them can be left out. It reads from the request to the obstacle.
	Chain []Link `json:"chain"`
	// Advice says what to do.
	Advice string `json:"advice,omitempty"`
	// Unavailable are the catalogs without content that would have to be asked, in order.
	Unavailable []catalog.Ref `json:"-"`

	conclusion string // what follows from the chain, where Error does not begin with the summary
	core       *resolve.Unsatisfiable
}

// Link is one rule of a conflict: what it says, and where it stands.
type Link struct {
	Text    string `json:"text"`
	Object  string `json:"object,omitempty"`
	Field   string `json:"field,omitempty"`
	Catalog string `json:"catalog,omitempty"`
	Digest  string `json:"digest,omitempty"`
	// Alike is how many more rules say the same of other versions.
	Alike int `json:"alike,omitempty"`

	plain bool // it says no more than that its object exists
}

const (
	maxLinks    = 6   // in the text of a conflict; with the two lines besides there are eight
	maxTextSize = 500 // bytes of one line
)

// Unwrap returns the *resolve.Unsatisfiable, if there is one.
func (c *Conflict) Unwrap() error {
	if c.core == nil {
		return nil
	}
	return c.core
}

// Error is the conflict in about eight lines: the chain of reasons with the place of each, what follows from it, and what to do. The
// summary comes first where there is no conclusion.
func (c *Conflict) Error() string {
	var lines []string
	told := slices.DeleteFunc(slices.Clone(c.Chain), func(l Link) bool { return l.plain })
	if c.conclusion == "" {
		lines = append(lines, oneLine(c.Summary))
		if len(told) == 1 && told[0].Text == c.Summary {
			told = nil
		}
	}
	if len(told) > 0 {
		lines = append(lines, "because "+Reasons(told))
	}
	if c.conclusion != "" {
		lines = append(lines, "so "+c.conclusion)
	}
	if c.Advice != "" {
		lines = append(lines, oneLine(c.Advice))
	}
	return strings.Join(lines, "\n")
}

// linkOf is a rule of a core as the link of a chain.
func linkOf(o resolve.Origin, alike int) Link {
	return Link{Text: o.Text, Object: o.Object, Field: o.Field, Catalog: o.Catalog, Digest: o.Digest, Alike: alike}
}

// cannotBeHad concludes a conflict about a version.
func cannotBeHad(name string) string { return oneLine(name) + " cannot be had" }

// Reasons are the rules of a chain, each with the place where it stands on a line of its own. Of a long chain the middle is left out.
func Reasons(chain []Link) string {
	var lines []string
	for i, l := range chain {
		switch skipped := len(chain) - maxLinks; {
		case skipped <= 0 || i < maxLinks/2 || i > skipped+maxLinks/2:
			lines = append(lines, l.line())
		case i == maxLinks/2:
			lines = append(lines, fmt.Sprintf("%d more reasons in between", skipped+1))
		}
	}
	return strings.Join(lines, "\nand ")
}

// line is the rule and the place where it stands.
func (l Link) line() string {
	text := l.Text
	if l.Alike > 0 {
		text += fmt.Sprintf(" (and %d more alike)", l.Alike)
	}
	var place []string
	if l.Object != "" && !strings.Contains(strings.ToLower(l.Text), strings.ToLower(l.Object)) {
		place = append(place, l.Object)
	}
	if l.Field != "" {
		place = append(place, l.Field)
	}
	if l.Catalog != "" {
		place = append(place, "catalog "+l.Catalog+atDigest(l.Digest))
	}
	text = oneLine(text)
	if len(place) > 0 {
		text += " [" + oneLine(strings.Join(place, "; ")) + "]"
	}
	return text
}

// atDigest is as much of a digest as a person compares.
func atDigest(digest string) string {
	const shown = 12
	algorithm, hex, ok := strings.Cut(digest, ":")
	if !ok {
		return ""
	}
	return "@" + algorithm + ":" + hex[:min(len(hex), shown)]
}

// oneLine makes text of unknown authors one line of bounded length.
func oneLine(text string) string { return resolve.Tidy(text, maxTextSize) }

// explanation makes a Conflict of the rules that cannot hold together, in the words of the catalog.
type explanation struct {
	*namespaceBuilder
	core    []resolve.Clause
	reasons []resolve.Reason // of the core, without those that only ask about what is wanted
	wanted  resolve.Var      // what was asked about; zero when Subscriptions have no answer
}

// conflict tells why there is no answer. wanted, if any, is what was asked about; subscriptions are those that go without.
func (b *namespaceBuilder) conflict(core *resolve.Unsatisfiable, wanted resolve.Var, subscriptions []string) *Conflict {
	e := &explanation{namespaceBuilder: b, core: core.Core, wanted: wanted}
	e.reasons = slices.DeleteFunc(core.Reasons(), e.asks)
	c := &Conflict{core: core}
	for _, r := range e.reasons {
		c.Chain = append(c.Chain, e.link(r))
	}
	obstacle := c.Chain[len(c.Chain)-1].Text
	if wanted != 0 {
		name := b.node(wanted).name()
		c.conclusion = cannotBeHad(name)
		for i, r := range e.reasons { // that there can be only one of a kind says less than who needs the other one
			if r.Kind != resolve.Limited && !c.Chain[i].plain {
				obstacle = c.Chain[i].Text
			}
		}
		c.Summary = fmt.Sprintf("%s cannot be had: %s", name, obstacle)
	} else {
		names := list("subscription", subscriptions)
		c.conclusion = "there is no solution for " + oneLine(names)
		c.Summary = fmt.Sprintf("%s cannot be satisfied: %s", names, obstacle)
	}
	c.Advice = e.advice()
	c.Unavailable = e.unavailable()
	return c
}

// unavailable are the catalogs without content that those who need something would have had to ask.
func (e *explanation) unavailable() []catalog.Ref {
	var found []catalog.Ref
	for _, c := range e.core {
		if c.Subject == "" {
			continue
		}
		if ref, blind := e.blind[need{e.problem.Var(c.Subject), c.Origin.Field}]; blind && !slices.Contains(found, ref) {
			found = append(found, ref)
		}
	}
	slices.SortFunc(found, catalog.Ref.Compare)
	return found
}

// link tells one rule. Where the solver has names of its own, those of the catalog take their place.
func (e *explanation) link(r resolve.Reason) Link {
	l := linkOf(r.Origin, r.More)
	l.plain = e.saidElsewhere(r)
	switch r.Kind {
	case resolve.Limited:
		l.Text += e.who(r.Clause)
	case resolve.Dependency:
		l.Text += e.more(r.Clause)
	case resolve.Assumed:
		if r.Subject != "" {
			l.Text = strings.Replace(r.Origin.Text, r.Subject, e.node(e.problem.Var(r.Subject)).name(), 1)
		}
	}
	return l
}

// more says of what a Subscription asks for that something of it is installed, and which channel it comes from when another Subscription of
// the core is about the same package.
func (e *explanation) more(asks resolve.Clause) string {
	n := e.node(e.problem.Var(asks.Subject))
	if n.sub == nil {
		return ""
	}
	r := e.requestOf(e.problem.Var(asks.Subject))
	twice := slices.ContainsFunc(e.askers(e.core), func(name string) bool {
		return name != n.sub.Name && e.requestNamed(name).sub.Package == n.sub.Package
	})
	switch {
	case len(r.options) == 0:
		return ""
	case r.installed != nil:
		return " (" + r.installed.Name + " is installed)"
	case twice && len(r.channels) == 1:
		return " from channel " + r.channels[0].Name
	}
	return ""
}

// who names the members of an upper bound that the other rules speak of.
func (e *explanation) who(bound resolve.Clause) string {
	var names, full []string
	for _, id := range bound.Others {
		spoken := slices.ContainsFunc(e.core, func(c resolve.Clause) bool {
			return c.Kind != resolve.Limited && (c.Subject == id || slices.Contains(c.Others, id))
		})
		if !spoken {
			continue
		}
		v := e.problem.Var(id)
		full = append(full, e.describe(v))
		if name := e.node(v).name(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	const shown = 4
	if len(names) == 1 { // it is not its name that tells them apart
		names = full
	}
	if len(names) < 2 {
		return ""
	}
	if len(names) > shown {
		names = append(names[:shown-1:shown-1], plural(len(names)-shown+1, "other"))
	}
	return ": " + strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// asks reports whether a reason only says that there is the question which it is part of an answer to. What was left out by an earlier
// choice is about the same bundle, but names the object that the choice was made for.
func (e *explanation) asks(r resolve.Reason) bool {
	return e.wanted != 0 && r.Kind == resolve.Assumed && r.Origin.Object == "" && e.problem.Var(r.Subject) == e.wanted
}

// saidElsewhere reports whether a reason only says that something exists, of which another reason says more.
func (e *explanation) saidElsewhere(r resolve.Reason) bool {
	if r.Kind != resolve.Mandatory || e.node(e.problem.Var(r.Subject)).operator != nil {
		return false
	}
	return slices.ContainsFunc(e.reasons, func(other resolve.Reason) bool { return other.Kind != resolve.Mandatory && other.Subject == r.Subject })
}

// asConflict makes an error of the solver one of this package.
func (b *namespaceBuilder) asConflict(err error, subscriptions []string) error {
	var core *resolve.Unsatisfiable
	if errors.As(err, &core) {
		return b.conflict(core, 0, subscriptions)
	}
	const most = 5
	named := strings.Join(subscriptions[:min(len(subscriptions), most)], ", ")
	if more := len(subscriptions) - most; more > 0 {
		named = fmt.Sprintf("%s and %d more", named, more)
	}
	return fmt.Errorf("decide on Subscription %s, together with all they can lead to: %w; narrow down what they may have "+
		"(spec.source, spec.channel, a version range), or have some of them in a namespace of their own", named, err)
}
