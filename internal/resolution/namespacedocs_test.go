package resolution

import (
	"os"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestPageHasTheRules proves that the rules of preference are told as they are kept, and in the order in which they are asked.
func TestPageHasTheRules(t *testing.T) {
	text := must.Value(os.ReadFile("../../docs/resolution.md"))(t)
	inOrder := func(rest string, rules ...Rule) {
		for _, rule := range rules {
			_, after, found := strings.Cut(rest, string(rule))
			if !found {
				t.Errorf("the page has no rule %q, or has it in another place", rule)
			}
			rest = after
		}
	}
	_, dependencies, _ := strings.Cut(string(text), "between two candidates for a dependency:")
	dependencies, subscriptions, found := strings.Cut(dependencies, "between two candidates of a Subscription:")
	if !found {
		t.Fatal("the page has no lists of rules")
	}
	inOrder(dependencies, RuleKnown, RuleOwnCatalog, RulePriority, RuleNamespace, RuleCatalogName, RuleDefaultChannel, RulePackageName, RuleChannelName, RuleHeadFirst)
	inOrder(subscriptions, RuleOtherCatalog, RuleSkippingHead, RuleDefaultChannel, RuleChannelName, RuleHeadFirst, RuleSubscription)
	if !strings.Contains(string(text), string(RuleLastCandidate)) {
		t.Errorf("the page does not explain %q", RuleLastCandidate)
	}
}
