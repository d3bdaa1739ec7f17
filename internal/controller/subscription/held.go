package subscription

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/resolution"
)

// heldBackCondition is there while something newer than what was chosen, or than what stays, cannot be had.
const heldBackCondition v1alpha1.SubscriptionConditionType = "HeldBack"

// Reasons of HeldBack. The last two are for what the Subscription's own version range holds back.
const (
	reasonNewer               = "NewerVersionNotPossible"
	reasonNoPath              = "NoUpgradePath"
	reasonVersionRange        = "VersionRange"
	reasonVersionRangeInvalid = "VersionRangeInvalid"
)

// heldBack is what a Subscription, or the bundle that it chose, would rather have.
type heldBack []resolution.Held

func heldOf(g *group, subscription string, choice *resolution.Choice) heldBack {
	if g == nil {
		return nil
	}
	var own heldBack
	for _, h := range g.Held {
		if h.Subscription == subscription || choice != nil && h.Asker == "bundle "+choice.Bundle.Name {
			own = append(own, h)
		}
	}
	return own
}

// condition reports in full what holds newer versions back. Its reason reports whether one is known.
func (held heldBack) condition() []v1alpha1.SubscriptionCondition {
	if len(held) == 0 {
		return nil
	}
	reason, texts := reasonNoPath, make([]string, len(held))
	for i, h := range held {
		texts[i] = tidy(h.Reason)
		if h.Conflict != nil {
			texts[i] = h.Conflict.Error()
		}
		if h.Wanted != "" {
			reason = reasonNewer
		}
	}
	if h := held.byRange(); h != nil {
		reason = reasonVersionRange
		if h.Wanted == "" {
			reason = reasonVersionRangeInvalid
		}
	}
	return []v1alpha1.SubscriptionCondition{isTrue(heldBackCondition, reason, strings.Join(texts, "\n"))}
}

// summary follows another message: what is not installed, each with the reason in one sentence. The condition has all of it.
func (held heldBack) summary() string {
	text := ""
	for _, h := range held {
		text += fmt.Sprintf("; %s is not installed", cmp.Or(h.Wanted, "an upgrade"))
		if reason := strings.TrimPrefix(tidy(h.Reason), h.Wanted+" cannot be had: "); reason != "" {
			text += ": " + reason
		}
	}
	return text
}

// byRange is what the Subscription's own version range holds back; nil when that is nothing.
func (held heldBack) byRange() *resolution.Held {
	i := slices.IndexFunc(held, func(h resolution.Held) bool { return h.Field == resolution.FieldVersionRange })
	if i < 0 {
		return nil
	}
	return &held[i]
}
