package permissions

import (
	"fmt"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// right is the smallest part of a rule: one verb on one resource, or on one path.
type right struct {
	namespace             string
	group, resource, verb string
	// named is true when the right is limited to the objects of one name. That name may be empty: rules of that kind exist.
	named bool
	name  string
	// url is a path outside the API resources; group, resource and name mean nothing then.
	url string
}

const (
	// maxRights is how many rights are checked. Operators of the field ask for less than a twentieth of it.
	maxRights = 100_000
	// maxSteps is how many rights are compared with a rule that is held; it takes about a second.
	maxSteps = 20_000_000
	// maxWord is how long a verb, group, resource, name or path may be, in bytes.
	maxWord = 1024
	// urlRights is what a path counts for: it is compared with everything that it begins with.
	urlRights = 20
)

// limitError says that something is too large to be judged.
type limitError struct{ what string }

func (e limitError) Error() string {
	return "permissions cannot be judged: " + e.what
}

var errTooManyRights = limitError{fmt.Sprintf("the rules come to more than %d combinations of verb, group, resource and name; use wildcards, or fewer rules", maxRights)}

// budget is the work that may still be done.
type budget struct{ rights, steps int }

func (b *budget) step(n int) error {
	if b.steps -= n; b.steps < 0 {
		return limitError{fmt.Sprintf("that takes more than %d comparisons with the rules that are held already; grant them in fewer rules", maxSteps)}
	}
	return nil
}

// parts are the rights of a rule, in a namespace or the whole cluster.
func (b *budget) parts(namespace string, rule rbacv1.PolicyRule) ([]right, error) {
	for _, words := range [][]string{rule.Verbs, rule.APIGroups, rule.Resources, rule.ResourceNames, rule.NonResourceURLs} {
		for _, word := range words {
			if len(word) > maxWord {
				return nil, limitError{fmt.Sprintf("a rule has a word of %d bytes, and %d are allowed", len(word), maxWord)}
			}
		}
	}
	// The rights are counted before they are made. Factors are multiplied one by one, because their product may be too large for an int.
	count := len(rule.Verbs)
	for _, factor := range []int{len(rule.APIGroups), len(rule.Resources), max(1, len(rule.ResourceNames))} {
		if count *= factor; count > b.rights {
			return nil, errTooManyRights
		}
	}
	urls := urlRights * len(rule.Verbs) * len(rule.NonResourceURLs)
	if urls > b.rights-count {
		return nil, errTooManyRights
	}
	b.rights -= count + urls
	var rights []right
	for _, verb := range rule.Verbs {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				r := right{namespace: namespace, group: group, resource: resource, verb: verb}
				if len(rule.ResourceNames) == 0 {
					rights = append(rights, r)
				}
				for _, name := range rule.ResourceNames {
					r.named, r.name = true, name
					rights = append(rights, r)
				}
			}
		}
		for _, url := range rule.NonResourceURLs {
			if prefix := strings.TrimRight(url, "*"); prefix != url {
				url = prefix + "*" // more stars mean the same
			}
			rights = append(rights, right{namespace: namespace, url: url, verb: verb})
		}
	}
	return rights, nil
}
