package resolution

import (
	"fmt"

	"fairlead.dev/fairlead/resolve"
	"fairlead.dev/fairlead/version"

	"github.com/blang/semver/v4"
)

// VersionRangeAnnotation on a Subscription says to which versions it may move; the grammar is that of version.ParseRange.
const VersionRangeAnnotation = "operators.fairlead.dev/version-range"

// FieldVersionRange is where the range stands, for explanations.
const FieldVersionRange = "metadata.annotations[" + VersionRangeAnnotation + "]"

// limit is a version range that a Subscription has set itself.
type limit struct {
	allowed version.Range
	err     error       // what is written there is no range
	left    resolve.Var // the most preferred candidate that it leaves out, when that is preferred to all it allows
}

// refuses tells whether a version may not be moved to.
func (l *limit) refuses(v semver.Version) bool { return l != nil && !l.allowed.Contains(v) }

// binds tells whether something is kept away from the Subscription.
func (l *limit) binds() bool { return l != nil && (l.err != nil || l.left != 0) }

// within keeps of what a Subscription may become what its range allows. While the range cannot be read, what is installed stays, and
// nothing is installed.
func (b *subscriptions) within(r *request) *trouble {
	l := r.limit
	if l == nil {
		return nil
	}
	if l.err != nil {
		text := fmt.Sprintf("annotation %s of Subscription %s: %v", VersionRangeAnnotation, r.sub.Name, l.err)
		r.options, r.waits = nil, text+"; until it is corrected or taken away nothing is installed or upgraded"
		return &trouble{FieldVersionRange, text, "correct annotation " + VersionRangeAnnotation + " of Subscription " + r.sub.Name + ", or take it away", false, nil}
	}
	var kept []resolve.Var
	for _, v := range r.options {
		switch {
		case !l.refuses(b.node(v).bundle.Version.Version):
			kept = append(kept, v)
		case len(kept) == 0 && l.left == 0:
			l.left = v
		}
	}
	refused := len(r.options) > len(kept)
	r.options = kept
	if len(kept) > 0 || !refused {
		return nil
	}
	text := fmt.Sprintf("no operators found matching the criteria of subscription %s: annotation %s allows only versions in %s, and what could be installed, %s, is not one of them",
		r.sub.Name, VersionRangeAnnotation, oneLine(r.sub.VersionRange), b.node(l.left).bundle.Name)
	return &trouble{FieldVersionRange, text, "widen annotation " + VersionRangeAnnotation + " of Subscription " + r.sub.Name, false, nil}
}
