package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

func grants(t *testing.T, granted []rbacv1.PolicyRule, wanted rbacv1.PolicyRule) (bool, error) {
	return (&comparing{left: maxComparisons}).grants(t.Context(), granted, wanted)
}

// many are n strings.
func many(prefix string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%s%d", prefix, i))
	}
	return out
}

// TestLargeRulesAreCompared: a rule of 240 strings has 12,960,000 combinations, and took a minute when each was observed.
func TestLargeRulesAreCompared(t *testing.T) {
	const n = 60
	wanted := rbacv1.PolicyRule{Verbs: many("v", n), APIGroups: many("g", n), Resources: many("r", n), ResourceNames: many("n", n)}
	half, other := wanted, wanted
	half.Verbs, other.Verbs = wanted.Verbs[:n/2], wanted.Verbs[n/2:]
	c := &comparing{left: 100_000}
	if ok, err := c.grants(t.Context(), []rbacv1.PolicyRule{half, other}, wanted); !ok || err != nil {
		t.Errorf("two halves grant the whole: %v, %v", ok, err)
	}
	other.Resources = wanted.Resources[1:]
	if ok, err := c.grants(t.Context(), []rbacv1.PolicyRule{half, other}, wanted); ok || err != nil {
		t.Errorf("one resource is missing: %v, %v", ok, err)
	}
}

// TestComparingEnds: at the limit, which is told, and with the context.
func TestComparingEnds(t *testing.T) {
	const n = 13 // each rule leaves out another item, so that what is left falls to pieces
	wanted := rbacv1.PolicyRule{Verbs: many("v", n), APIGroups: many("g", n), Resources: many("r", n), ResourceNames: many("n", n)}
	var granted []rbacv1.PolicyRule
	for i := range n {
		rule := rbacv1.PolicyRule{}
		for j := range n {
			if j != i {
				rule.Verbs, rule.APIGroups = append(rule.Verbs, wanted.Verbs[j]), append(rule.APIGroups, wanted.APIGroups[j])
				rule.Resources, rule.ResourceNames = append(rule.Resources, wanted.Resources[j]), append(rule.ResourceNames, wanted.ResourceNames[j])
			}
		}
		granted = append(granted, rule)
	}
	if ok, err := (&comparing{left: 20_000}).grants(t.Context(), granted, wanted); ok || !errors.Is(err, errTooMany) {
		t.Errorf("beyond the limit: %v, %v", ok, err)
	}
	ok, err := grants(t, granted, wanted)
	if errors.Is(err, errTooMany) || !ok {
		t.Errorf("within the limit: %v, %v", ok, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if ok, err := (&comparing{left: maxComparisons}).grants(ctx, granted, wanted); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("when the manager ends: %v, %v", ok, err)
	}
}
