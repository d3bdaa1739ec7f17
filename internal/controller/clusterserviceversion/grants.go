package clusterserviceversion

import (
	"context"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// maxComparisons is how often the strings of two rules are compared in one pass over a ClusterServiceVersion. Operators
// of the field need less than a hundredth of it, and it takes less than a second.
const maxComparisons = 20_000_000

// comparing reports which rules are granted, within a limit: what rules ask for, and what is granted, was written by others.
type comparing struct{ left int }

// errTooMany reports that the limit is used up.
var errTooMany = fmt.Errorf("it is not known whether this is granted: that took more than %d comparisons with the rules that the account has; ask for it in smaller rules, or grant it in fewer", maxComparisons)

// grants reports whether the granted rules allow everything that the desired rule asks for. Like the cluster, it means each
// combination of verb, group, resource and name by itself, but does not go through them all: it takes what one granted rule
// allows out of what is desired, and continues with the rest. Errors are those of the context and of the limit.
func (c *comparing) grants(ctx context.Context, granted []rbacv1.PolicyRule, wanted rbacv1.PolicyRule) (bool, error) {
	names := wanted.ResourceNames
	if len(names) == 0 {
		names = []string{anyName}
	}
	ok, err := c.allowed(ctx, granted, box{verbs: wanted.Verbs, groups: wanted.APIGroups, resources: wanted.Resources, names: names})
	if err != nil || !ok {
		return false, err
	}
	// Report whether the rules allow each verb of each path. Which paths a rule allows does not depend on the verb, so it goes from
	// path to path.
	for _, url := range wanted.NonResourceURLs {
		verbs := wanted.Verbs
		for i := range granted {
			if len(granted[i].ResourceNames) > 0 {
				continue
			}
			in, _, err := c.split(ctx, []string{url}, granted[i].NonResourceURLs, matchesURL)
			if err != nil {
				return false, err
			}
			if len(in) == 0 {
				continue
			}
			if _, verbs, err = c.split(ctx, verbs, granted[i].Verbs, matchesItem); err != nil {
				return false, err
			}
		}
		if len(verbs) > 0 {
			return false, nil
		}
	}
	return true, nil
}

// anyName stands for what is not limited to names. No object has it.
const anyName = ""

// box is what a rule asks of resources: all combinations of an item of each list. There are none when a list is empty.
type box struct{ verbs, groups, resources, names []string }

// allowed reports whether the rules allow all of a box.
func (c *comparing) allowed(ctx context.Context, granted []rbacv1.PolicyRule, wanted box) (bool, error) {
	if min(len(wanted.verbs), len(wanted.groups), len(wanted.resources), len(wanted.names)) == 0 {
		return true, nil
	}
	// Only rules that allow something of it are of use for what the first of them leaves.
	var useful []rbacv1.PolicyRule
	var left []box
	for i := range granted {
		rest, some, err := c.without(ctx, wanted, &granted[i])
		if err != nil {
			return false, err
		}
		if !some {
			continue
		}
		if len(rest) == 0 {
			return true, nil
		}
		if len(useful) == 0 {
			left = rest
		}
		useful = append(useful, granted[i])
	}
	if len(useful) == 0 {
		return false, nil
	}
	for _, rest := range left {
		if ok, err := c.allowed(ctx, useful[1:], rest); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// without is what remains of a box when what a rule allows is removed, as boxes of which no two have a combination in
// common; and whether the rule allows any of it.
func (c *comparing) without(ctx context.Context, b box, rule *rbacv1.PolicyRule) (rest []box, some bool, err error) {
	var in, out box
	for _, d := range []struct {
		wanted, granted []string
		matches         func(granted, wanted string) bool
		in, out         *[]string
	}{
		{b.verbs, rule.Verbs, matchesItem, &in.verbs, &out.verbs},
		{b.groups, rule.APIGroups, matchesItem, &in.groups, &out.groups},
		{b.resources, rule.Resources, matchesResource, &in.resources, &out.resources},
		{b.names, rule.ResourceNames, matchesName, &in.names, &out.names},
	} {
		if d.in == &in.names && len(d.granted) == 0 {
			in.names = b.names // a rule without names allows each of them
			continue
		}
		if *d.in, *d.out, err = c.split(ctx, d.wanted, d.granted, d.matches); err != nil || len(*d.in) == 0 {
			return nil, false, err
		}
	}
	for _, part := range []box{
		{out.verbs, b.groups, b.resources, b.names},
		{in.verbs, out.groups, b.resources, b.names},
		{in.verbs, in.groups, out.resources, b.names},
		{in.verbs, in.groups, in.resources, out.names},
	} {
		if min(len(part.verbs), len(part.groups), len(part.resources), len(part.names)) > 0 {
			rest = append(rest, part)
		}
	}
	return rest, true, nil
}

// split parts the desired items into those that one of the granted ones matches and the others.
func (c *comparing) split(ctx context.Context, wanted, granted []string, matches func(granted, wanted string) bool) (in, out []string, err error) {
	for _, w := range wanted {
		if c.left -= len(granted) + 1; c.left < 0 {
			return nil, nil, errTooMany
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(granted, func(g string) bool { return matches(g, w) }) {
			in = append(in, w)
		} else {
			out = append(out, w)
		}
	}
	return in, out, nil
}

func matchesName(granted, wanted string) bool { return wanted != anyName && granted == wanted }

// matchesItem knows that a star stands for every verb and for every API group.
func matchesItem(granted, wanted string) bool { return granted == "*" || granted == wanted }

// matchesResource knows that */scale stands for the subresource scale of every resource.
func matchesResource(granted, wanted string) bool {
	if granted == rbacv1.ResourceAll || granted == wanted {
		return true
	}
	_, subresource, ok := strings.Cut(wanted, "/")
	return ok && granted == "*/"+subresource
}

// matchesURL knows that a trailing star stands for every path that begins like this.
func matchesURL(granted, wanted string) bool {
	if granted == rbacv1.NonResourceAll || granted == wanted {
		return true
	}
	prefix, ok := strings.CutSuffix(granted, "*")
	return ok && strings.HasPrefix(wanted, prefix)
}
