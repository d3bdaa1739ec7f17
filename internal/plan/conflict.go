package plan

import (
	"fmt"
	"strings"

	"fairlead.dev/fairlead/internal/catalogset"
	"fairlead.dev/fairlead/resolve"
)

// Conflict says why there is no answer for some Subscriptions, or why something that is wanted cannot be had.
type Conflict struct {
	// Summary is the conflict in one sentence.
	Summary string `json:"summary"`
	// Chain are the rules that cannot hold together; none of them can be left out. It reads from the request to the obstacle.
	Chain []Link `json:"chain"`
	// Advice says what to do.
	Advice string `json:"advice,omitempty"`
	// Unavailable are the catalogs without content that would have to be asked, in order.
	Unavailable []catalogset.Ref `json:"-"`

	subscriptions []string // those that go without, or
	wanted        string   // what cannot be had
	core          *resolve.Unsatisfiable
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

// Error tells the conflict in about eight lines: the chain of reasons, where each stands, and what to do.
func (c *Conflict) Error() string {
	var told []Link
	for _, l := range c.Chain {
		if !l.plain {
			told = append(told, l)
		}
	}
	var out strings.Builder
	if len(told) > 0 {
		out.WriteString("because " + Reasons(told) + "\n")
	}
	if c.wanted != "" {
		out.WriteString("so " + oneLine(c.wanted) + " cannot be had")
	} else {
		out.WriteString("so there is no solution for " + oneLine(listSubscriptions(c.subscriptions)))
	}
	if c.Advice != "" {
		out.WriteString("\n" + oneLine(c.Advice))
	}
	return out.String()
}

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

// listSubscriptions names some of them.
func listSubscriptions(names []string) string {
	const shown = 5
	text := "subscription"
	if len(names) > 1 {
		text += "s"
	}
	for i, name := range names[:min(len(names), shown)] {
		switch {
		case i == 0:
			text += " " + name
		case i == len(names)-1:
			text += " and " + name
		default:
			text += ", " + name
		}
	}
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
