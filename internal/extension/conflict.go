package extension

import (
	"context"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/internal/plan"
	"fairlead.dev/fairlead/resolve"
)

// Reason is the class of a conflict.
type Reason string

const (
	InvalidRange       Reason = "InvalidVersionRange"
	InvalidSelector    Reason = "InvalidSelector"
	NoCatalog          Reason = "NoCatalog"
	CatalogUnavailable Reason = "CatalogUnavailable"
	PackageNotFound    Reason = "PackageNotFound"
	ChannelNotFound    Reason = "ChannelNotFound"
	VersionNotFound    Reason = "VersionNotFound"
	NoSuccessor        Reason = "NoSuccessor"
	DowngradeRefused   Reason = "DowngradeRefused"
	DependencyMissing  Reason = "DependencyMissing"
	BreaksOthers       Reason = "BreaksOthers"
	KubernetesTooOld   Reason = "KubernetesTooOld"
	AmbiguousCatalogs  Reason = "AmbiguousCatalogs"
)

// Conflict says why there is no answer. As JSON it has the form of plan.Conflict, and the reason.
type Conflict struct {
	Reason Reason `json:"reason"`
	// Summary is the conflict in one sentence, which scripts match on.
	Summary string `json:"summary"`
	// Chain are the rules that cannot hold together; none of them can be left out. It reads from the request to the obstacle.
	Chain []plan.Link `json:"chain"`
	// Advice says what to do.
	Advice string `json:"advice,omitempty"`

	core *resolve.Unsatisfiable
}

const (
	maxLinks    = 6   // in the text of a conflict; with its first and last line there are eight
	maxTextSize = 500 // bytes of one line
)

// Unwrap returns the *resolve.Unsatisfiable, if there is one.
func (c *Conflict) Unwrap() error {
	if c.core == nil {
		return nil
	}
	return c.core
}

// Error tells the conflict in at most eight lines: the summary, the chain of reasons with where each stands, and what to do.
func (c *Conflict) Error() string {
	var out strings.Builder
	out.WriteString(resolve.Tidy(c.Summary, maxTextSize))
	word := "\nbecause "
	tell := func(text string) {
		out.WriteString(word + text)
		word = "\nand "
	}
	told := c.Chain
	if len(told) > 1 && told[0].Field == "" { // that the extension exists is known
		told = told[1:]
	}
	if len(told) == 1 && told[0].Text == c.Summary {
		told = nil
	}
	for i, l := range told {
		switch skipped := len(told) - maxLinks; {
		case skipped <= 0 || i < maxLinks/2 || i > skipped+maxLinks/2:
			tell(line(l))
		case i == maxLinks/2:
			tell(fmt.Sprintf("%d more reasons in between", skipped+1))
		}
	}
	if c.Advice != "" {
		out.WriteString("\n" + resolve.Tidy(c.Advice, maxTextSize))
	}
	return out.String()
}

// line is a rule and the place where it stands.
func line(l plan.Link) string {
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
	text = resolve.Tidy(text, maxTextSize)
	if len(place) > 0 {
		text += " [" + resolve.Tidy(strings.Join(place, "; "), maxTextSize) + "]"
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

// conflict tells why there is no answer.
func (b *builder) conflict(ctx context.Context, core *resolve.Unsatisfiable) *Conflict {
	c := &Conflict{Reason: b.reason(core.Core), core: core}
	for _, r := range core.Reasons() {
		o := r.Origin
		c.Chain = append(c.Chain, plan.Link{Text: o.Text, Object: o.Object, Field: o.Field, Catalog: o.Catalog, Digest: o.Digest, Alike: r.More})
	}
	c.Summary = b.summary(c.Reason, core.Core)
	if !b.trial {
		c.Advice = b.hint(ctx, c.Reason, core.Core)
	}
	return c
}

// plain is a conflict of a request with itself: there is nothing to solve.
func (b *builder) plain(r Reason, text, field, advice string) *Conflict {
	return &Conflict{Reason: r, Summary: text, Advice: advice,
		Chain: []plan.Link{{Text: text, Object: "ClusterExtension " + b.name, Field: field}}}
}

// reason is the class of what is in the way: that of the candidate which came nearest to be chosen.
func (b *builder) reason(core []resolve.Clause) Reason {
	if len(b.ambiguous(core)) > 0 {
		return AmbiguousCatalogs
	}
	if b.blind != nil {
		return CatalogUnavailable
	}
	if len(b.catalogs) == 0 {
		return NoCatalog
	}
	if len(b.candidates) == 0 {
		return PackageNotFound
	}
	nearest := b.nearest()
	switch nearest.refusal().rule {
	case ruleChannel:
		return ChannelNotFound
	case ruleRange:
		return VersionNotFound
	case ruleEdge:
		if nearest.bundle.Version.Compare(b.in.Installed.Version) < 0 {
			return DowngradeRefused
		}
		return NoSuccessor
	case ruleGuard:
		return BreaksOthers
	case ruleKubernetes:
		return KubernetesTooOld
	}
	return DependencyMissing
}

// nearest is the most wanted of the candidates that the latest rule refuses.
func (b *builder) nearest() *candidate {
	var found *candidate
	for _, c := range b.candidates {
		if found == nil || c.refusal().rule > found.refusal().rule {
			found = c
		}
	}
	return found
}
