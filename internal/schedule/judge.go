package schedule

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/catalog/safetext"
)

// Upgrade is one that is to begin.
type Upgrade struct {
	// Object is the kind and name of the object that asks for it.
	Object string
	// Namespace is the one that it is upgraded in.
	Namespace string
	// Annotations are those of the object, for NowKey.
	Annotations map[string]string
	// Bundle and Version are what is upgraded to.
	Bundle, Version string
	// Rules are those of the object.
	Rules Rules
}

// Passed reports whether a person lets the upgrade through, whatever the rules are.
func (u Upgrade) Passed() bool {
	now := strings.TrimSpace(u.Annotations[NowKey])
	return now != "" && (now == u.Bundle || now == u.Version)
}

// Held says that upgrades wait, and why.
type Held struct {
	// Until is when they may begin; zero where no time ends it.
	Until time.Time
	// Message is the same all the while.
	Message string
}

// prefix begins the message of every upgrade that is held.
const prefix = "upgrade held"

// IsMessage reports whether a message is that of upgrades that are held.
func IsMessage(message string) bool { return strings.HasPrefix(message, prefix) }

// Judge reports whether upgrades that begin together have to wait; nil is no. They begin when the rules of each allow it.
func Judge(now time.Time, upgrades ...Upgrade) *Held {
	upgrades = slices.DeleteFunc(slices.Clone(upgrades), Upgrade.Passed)
	var all Rules
	var bundles []string
	for _, u := range upgrades {
		all.gates = append(all.gates, u.Rules.gates...)
		for _, source := range u.Rules.sources {
			if !slices.Contains(all.sources, source) {
				all.sources = append(all.sources, source)
			}
		}
		for _, why := range u.Rules.endless {
			if !slices.Contains(all.endless, why) {
				all.endless = append(all.endless, why)
			}
		}
		if all.zone == nil {
			all.zone = u.Rules.zone
		}
		bundles = append(bundles, safetext.Line(u.Bundle, maxName))
	}
	what := safetext.List(bundles, maxListed, ", ")
	if len(all.endless) > 0 {
		return &Held{Message: fmt.Sprintf("%s: %s cannot begin: %s%s", prefix, what, strings.Join(all.endless, "; "), remedy(upgrades))}
	}
	until, ok := opens(now, all.gates)
	sources := safetext.List(all.sources, maxListed, " and ")
	switch {
	case !ok:
		return &Held{Message: fmt.Sprintf("%s: %s cannot begin: there is no time within a year that %s allow together%s", prefix, what, sources, remedy(upgrades))}
	case !until.After(now):
		return nil
	}
	return &Held{Until: until, Message: fmt.Sprintf("%s until %s: %s waits for %s%s", prefix, all.instant(until), what, sources, remedy(upgrades))}
}

// maxListed is how many bundles or annotations a message names.
const maxListed = 5

// instant writes a time for programs and, in the zone of the window, for people.
func (r Rules) instant(t time.Time) string {
	text := t.UTC().Format(time.RFC3339)
	if r.zone == nil {
		return text
	}
	return fmt.Sprintf("%s (%s %s)", text, t.In(r.zone).Format("Mon 2 Jan 2006 15:04"), r.zone)
}

// remedy is what lets the upgrades through at once.
func remedy(upgrades []Upgrade) string {
	var all []string
	for _, u := range upgrades {
		text := fmt.Sprintf("annotate %s with %s=%s", u.Object, NowKey, safetext.Line(u.Bundle, maxName))
		if other := strings.TrimSpace(u.Annotations[NowKey]); other != "" {
			text += ", which now names " + safetext.Quote(other)
		}
		all = append(all, text)
	}
	return "; to begin at once, " + safetext.List(all, maxListed, " and ")
}

// By returns what holds upgrades that a gate of the fleet does not allow, with its reason, until it is asked again.
func By(reason string, again time.Time, upgrades ...Upgrade) *Held {
	names := make([]string, len(upgrades))
	for i, u := range upgrades {
		names[i] = safetext.Line(u.Bundle, maxName)
	}
	return &Held{Until: again, Message: fmt.Sprintf("%s by the upgrade gate: %s waits: %s%s", prefix, safetext.List(names, maxListed, ", "), reason, remedy(upgrades))}
}
