package extension

import (
	"context"
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

const maxTextSize = 500 // bytes of one line

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
	told := c.Chain
	if len(told) > 1 && told[0].Field == "" { // that the extension exists is known
		told = told[1:]
	}
	if len(told) == 1 && told[0].Text == c.Summary {
		told = nil
	}
	if len(told) > 0 {
		out.WriteString("\nbecause " + plan.Reasons(told))
	}
	if c.Advice != "" {
		out.WriteString("\n" + resolve.Tidy(c.Advice, maxTextSize))
	}
	return out.String()
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
	if b.unavailable() != nil {
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
		if nearest.version.Compare(b.from()) < 0 {
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
