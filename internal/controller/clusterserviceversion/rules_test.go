package clusterserviceversion

import (
	"math/rand/v2"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/component-helpers/auth/rbac/validation"
)

func rule(verbs, groups, resources []string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: verbs, APIGroups: groups, Resources: resources, ResourceNames: names}
}

func TestGrants(t *testing.T) {
	list := func(items ...string) []string { return items }
	urls := func(verb string, paths ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{Verbs: list(verb), NonResourceURLs: paths}
	}
	pods := rule(list("get", "list"), list(""), list("pods"))
	tests := map[string]struct {
		granted []rbacv1.PolicyRule
		wanted  rbacv1.PolicyRule
		want    bool
	}{
		"the same":                         {[]rbacv1.PolicyRule{pods}, pods, true},
		"nothing":                          {nil, pods, false},
		"a verb is missing":                {[]rbacv1.PolicyRule{rule(list("get"), list(""), list("pods"))}, pods, false},
		"verbs of two rules":               {[]rbacv1.PolicyRule{rule(list("get"), list(""), list("pods")), rule(list("list"), list(""), list("pods"))}, pods, true},
		"every verb":                       {[]rbacv1.PolicyRule{rule(list("*"), list(""), list("pods"))}, pods, true},
		"every verb is wanted":             {[]rbacv1.PolicyRule{pods}, rule(list("*"), list(""), list("pods")), false},
		"another group":                    {[]rbacv1.PolicyRule{rule(list("*"), list("apps"), list("pods"))}, pods, false},
		"every group":                      {[]rbacv1.PolicyRule{rule(list("*"), list("*"), list("pods"))}, pods, true},
		"every resource":                   {[]rbacv1.PolicyRule{rule(list("*"), list(""), list("*"))}, rule(list("get"), list(""), list("pods", "pods/log")), true},
		"a resource is not a subresource":  {[]rbacv1.PolicyRule{pods}, rule(list("get"), list(""), list("pods/log")), false},
		"the subresource of every kind":    {[]rbacv1.PolicyRule{rule(list("get"), list("apps"), list("*/scale"))}, rule(list("get"), list("apps"), list("deployments/scale")), true},
		"another subresource":              {[]rbacv1.PolicyRule{rule(list("get"), list("apps"), list("*/scale"))}, rule(list("get"), list("apps"), list("deployments/status")), false},
		"named for all":                    {[]rbacv1.PolicyRule{pods}, rule(list("get"), list(""), list("pods"), "one"), true},
		"all for named":                    {[]rbacv1.PolicyRule{rule(list("get", "list"), list(""), list("pods"), "one")}, pods, false},
		"names of two rules":               {[]rbacv1.PolicyRule{rule(list("get"), list(""), list("pods"), "a"), rule(list("get"), list(""), list("pods"), "b")}, rule(list("get"), list(""), list("pods"), "a", "b"), true},
		"combinations do not mix":          {[]rbacv1.PolicyRule{rule(list("get"), list(""), list("pods")), rule(list("list"), list("apps"), list("deployments"))}, rule(list("get", "list"), list("", "apps"), list("pods")), false},
		"a path":                           {[]rbacv1.PolicyRule{urls("get", "/metrics")}, urls("get", "/metrics"), true},
		"a path below a star":              {[]rbacv1.PolicyRule{urls("get", "/healthz/*")}, urls("get", "/healthz/ready"), true},
		"a path above a star":              {[]rbacv1.PolicyRule{urls("get", "/healthz/*")}, urls("get", "/healthz"), false},
		"every path":                       {[]rbacv1.PolicyRule{urls("*", "*")}, urls("get", "/any"), true},
		"a resource does not grant a path": {[]rbacv1.PolicyRule{rule(list("*"), list("*"), list("*"))}, urls("get", "/metrics"), false},
		"no resource at all":               {nil, rule(list("get"), list(""), nil), true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := grants(t, tc.granted, tc.wanted); got != tc.want || err != nil {
				t.Errorf("grants = %v, %v", got, err)
			}
		})
	}
}

// TestGrantsAgreesWithKubernetes compares with the comparison of rules that Kubernetes uses against escalation, on rules
// made at random from few words, so that they often match.
func TestGrantsAgreesWithKubernetes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	some := func(words ...string) []string {
		return slices.DeleteFunc(words, func(string) bool { return random.IntN(3) > 0 })
	}
	atLeastOne := func(words ...string) []string {
		if out := some(slices.Clone(words)...); len(out) > 0 {
			return out
		}
		return words[:1]
	}
	make := func() rbacv1.PolicyRule {
		if random.IntN(5) == 0 {
			return rbacv1.PolicyRule{Verbs: atLeastOne("get", "list", "*"), NonResourceURLs: atLeastOne("/a", "/a/*", "/b", "*")}
		}
		return rule(atLeastOne("get", "list", "*"), atLeastOne("", "apps", "*"), atLeastOne("pods", "pods/log", "*/log", "*"), some("one", "two")...)
	}
	agreed := map[bool]int{}
	for range 20000 {
		var granted []rbacv1.PolicyRule
		for range random.IntN(4) {
			granted = append(granted, make())
		}
		wanted := make()
		want, _ := validation.Covers(granted, []rbacv1.PolicyRule{wanted})
		if got, err := grants(t, granted, wanted); got != want || err != nil {
			t.Fatalf("grants(%+v, %+v) = %v, %v, Kubernetes says %v", granted, wanted, got, err, want)
		}
		agreed[want]++
	}
	if agreed[true] < 1000 || agreed[false] < 1000 {
		t.Errorf("too few of one kind: %v", agreed)
	}
}
