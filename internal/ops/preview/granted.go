package preview

import (
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/rollout/permissions"
)

// Granted is what a subject may do in addition.
type Granted struct {
	// Subject is who may, such as "ServiceAccount ns/name".
	Subject string        `json:"subject"`
	Rules   []GrantedRule `json:"rules"`
}

// GrantedRule is one of these rights.
type GrantedRule struct {
	Text string `json:"text"`
	// Power says what of it reaches beyond what an operator does for its own custom resources; empty where nothing does.
	Power string `json:"power,omitempty"`
}

// granted is an increase of permissions, subject by subject.
func granted(increase *permissions.Increase) []Granted {
	if increase.Empty() {
		return nil
	}
	if increase.Unjudged != "" {
		return []Granted{{"", []GrantedRule{{"what is added is not known", increase.Unjudged}}}}
	}
	var all []Granted
	for _, grant := range increase.Grants {
		g := Granted{Subject: grant.Subject}
		for _, rule := range grant.Rules {
			g.Rules = append(g.Rules, GrantedRule{words(rule), rule.Power()})
		}
		for _, role := range grant.Roles {
			g.Rules = append(g.Rules, GrantedRule{"all that is allowed by " + role, "it is not part of the bundle"})
		}
		for _, account := range grant.Accounts {
			g.Rules = append(g.Rules, GrantedRule{"all that the " + account + " may do", "it is not part of the bundle"})
		}
		// What reaches far comes first.
		slices.SortStableFunc(g.Rules, func(a, b GrantedRule) int { return far(b) - far(a) })
		all = append(all, g)
	}
	return all
}

func far(r GrantedRule) int {
	if r.Power != "" {
		return 1
	}
	return 0
}

// words are a rule as people say it.
func words(r permissions.MissingRule) string {
	if len(r.NonResourceURLs) > 0 {
		return strings.Join(r.Verbs, ", ") + " the paths " + strings.Join(r.NonResourceURLs, ", ")
	}
	text := strings.Join(r.Verbs, ", ") + " " + strings.Join(r.Resources, ", ")
	if groups := slices.DeleteFunc(slices.Clone(r.APIGroups), func(group string) bool { return group == "" }); len(groups) > 0 {
		text += " of " + strings.Join(groups, ", ")
		if len(groups) < len(r.APIGroups) {
			text += " and the core group"
		}
	}
	if len(r.ResourceNames) > 0 {
		text += " named " + strings.Join(r.ResourceNames, ", ")
	}
	if r.Namespace == "" {
		return text + " in the whole cluster"
	}
	return text + " in namespace " + r.Namespace
}
