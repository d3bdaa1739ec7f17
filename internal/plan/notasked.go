package plan

import (
	"cmp"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/catalog"

	"github.com/blang/semver/v4"
)

// notAsked tells why an entry was no candidate of any request.
func (b *builder) notAsked(s *Source, c *catalog.ChannelInfo, e *catalog.EntryInfo) []string {
	var reasons []string
	for _, q := range b.requests {
		if q.sub.Package == c.Package {
			reasons = append(reasons, "subscription "+q.sub.Name+": "+notFor(q, s, c, e))
		}
	}
	if len(reasons) == 0 {
		reasons = append(reasons, "no Subscription asks for package "+c.Package+", and nothing that is chosen needs it")
	}
	if e.Bundle.Deprecated {
		reasons = append(reasons, "it is deprecated ("+catalog.PropertyDeprecated+"), so it is never chosen")
	}
	if least, ok := MinKubeVersion(s.Index, e.Bundle); ok && !b.in.Kubernetes.Equals(semver.Version{}) && TooNew(least, b.in.Kubernetes) {
		reasons = append(reasons, fmt.Sprintf("it needs Kubernetes %s or newer, and the cluster has %s", least, b.in.Kubernetes))
	}
	if e.Skipped {
		reasons = append(reasons, "a newer entry of its channel skips it, so it is not offered to what needs it")
	}
	return reasons
}

// notFor tells why an entry is no candidate of a request.
func notFor(q *request, s *Source, c *catalog.ChannelInfo, e *catalog.EntryInfo) string {
	switch {
	case q.source != s:
		return "it asks for catalog " + q.sub.Catalog.String()
	case q.sub.Channel != "" && q.sub.Channel != c.Name:
		return "it follows channel " + q.sub.Channel
	case q.installed != nil && e.RefusesBack(q.departure()):
		return fmt.Sprintf("it is older than the installed %s: its skipRange %s contains that, but to an older version leads only an entry that replaces or skips what is installed",
			q.installed.Name, e.SkipRange)
	case q.waits != "":
		return q.waits
	case q.limit.refuses(e.Bundle.Version.Version):
		return fmt.Sprintf("annotation %s allows only versions in %s", VersionRangeAnnotation, oneLine(q.sub.VersionRange))
	case !e.InChain:
		return "a newer entry of its channel skips it"
	case q.installed != nil:
		return fmt.Sprintf("no edge leads from the installed %s to it: it replaces %s%s", q.installed.Name, cmp.Or(e.Replaces, "nothing"), edges(e))
	case q.sub.StartingCSV != "":
		return "it starts with " + q.sub.StartingCSV
	}
	return "it has no answer"
}

func edges(e *catalog.EntryInfo) string {
	text := ""
	if len(e.Skips) > 0 {
		text += ", skips " + strings.Join(e.Skips, ", ")
	}
	if !e.SkipRange.IsZero() {
		text += ", has skipRange " + e.SkipRange.String()
	}
	return text
}
