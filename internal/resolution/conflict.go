package resolution

import (
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
	// Headline says in one short line what cannot be had, and why. Only conflicts of Subscriptions that have no answer have one.
	Headline string `json:"headline,omitempty"`
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

// IsReason reports whether a word is that of a conflict.
func IsReason(word string) bool {
	switch Reason(word) {
	case InvalidRange, InvalidSelector, NoCatalog, CatalogUnavailable, PackageNotFound, ChannelNotFound, VersionNotFound, NoSuccessor, DowngradeRefused,
		DependencyMissing, BreaksOthers, KubernetesTooOld, AmbiguousCatalogs:
		return true
	}
	return false
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

// Error is the conflict in about nine lines: the headline, the chain of reasons with the place of each, what follows from it, and what to do.
// The summary comes first where there is no conclusion.
func (c *Conflict) Error() string {
	var lines []string
	told := c.Told()
	if c.Headline != "" {
		lines = append(lines, oneLine(c.Headline))
	}
	if c.conclusion == "" {
		lines = append(lines, oneLine(c.Summary))
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

// Told are the rules of the chain that say something: more than that their object exists, and something else than the summary where that is printed.
func (c *Conflict) Told() []Link {
	told := slices.DeleteFunc(slices.Clone(c.Chain), func(l Link) bool { return l.plain })
	if c.conclusion == "" && len(told) == 1 && told[0].Text == c.Summary {
		return nil
	}
	return told
}

// Conclusion is what follows from the chain; empty where the summary says that.
func (c *Conflict) Conclusion() string { return c.conclusion }

// Reason is what the rule says.
func (l Link) Reason() string {
	if l.Alike > 0 {
		return oneLine(l.Text + fmt.Sprintf(" (and %d more alike)", l.Alike))
	}
	return oneLine(l.Text)
}

// Place is where the rule stands; empty where its text says that.
func (l Link) Place() string {
	var place []string
	if l.Object != "" && !strings.Contains(strings.ToLower(l.Text), strings.ToLower(l.Object)) {
		place = append(place, l.Object)
	}
	if l.Field != "" {
		place = append(place, l.Field)
	}
	if l.Catalog != "" {
		const shown = 12 // as much of a digest as a person compares
		source := "catalog " + l.Catalog
		if algorithm, hex, ok := strings.Cut(l.Digest, ":"); ok {
			source += "@" + algorithm + ":" + hex[:min(len(hex), shown)]
		}
		place = append(place, source)
	}
	return oneLine(strings.Join(place, "; "))
}

// Reasons are the rules of a chain, each with the place where it stands on a line of its own. Of a long chain the middle is left out.
func Reasons(chain []Link) string {
	var lines []string
	for i, l := range chain {
		if skipped := len(chain) - maxLinks; skipped > 0 && i >= maxLinks/2 && i <= skipped+maxLinks/2 {
			if i == maxLinks/2 {
				lines = append(lines, fmt.Sprintf("%d more reasons in between", skipped+1))
			}
			continue
		}
		text := l.Reason()
		if place := l.Place(); place != "" {
			text += " [" + place + "]"
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, "\nand ")
}
