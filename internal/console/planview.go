package console

import (
	"fmt"
	"net/url"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/ops/preview"
)

// verdictClass is the badge of a verdict on a definition.
func verdictClass(verdict string) string {
	switch verdict {
	case preview.CRDNew, preview.CRDSafe:
		return "good"
	case preview.CRDUnsafe:
		return "bad"
	}
	return "warn"
}

// isWeb reports whether an address of an author is one of the web: nothing else becomes a link.
func isWeb(address string) bool {
	if len(address) > maxLink {
		return false
	}
	u, err := url.Parse(strings.TrimSpace(address))
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

// maxLink is how long an address of an author may be, in bytes, and maxName a name of an object or of what catalogs have.
const (
	maxLink = 2 << 10
	maxName = 253
)

// canBeNamed reports whether a name of a catalog can be one: a longer one is not offered to be chosen.
func canBeNamed(name string) bool { return len(name) <= maxName }

// maxInRule is how many names a rule shows.
const maxInRule = 12

// named are names in one line, the first of them where there are many.
func named(names []string) string {
	text := strings.Join(names[:min(len(names), maxInRule)], ", ")
	if more := len(names) - maxInRule; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return messages.Line(text, 600)
}
