package permissions

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// broader are the rights that include one, itself among them.
func broader(r right) []right {
	all := []right{r}
	widen := func(change func(*right)) {
		for _, wider := range slices.Clone(all) {
			change(&wider)
			all = append(all, wider)
		}
	}
	widen(func(r *right) { r.verb = "*" })
	if r.url != "" {
		narrow := slices.Clone(all)
		for end := range len(r.url) + 1 {
			for _, wider := range narrow {
				wider.url = r.url[:end] + "*"
				all = append(all, wider)
			}
		}
		return all
	}
	widen(func(r *right) { r.group = "*" })
	widen(func(r *right) { r.namespace = "" })
	widen(func(r *right) { r.named, r.name = false, "" })
	resources := []string{"*"}
	if _, subresource, ok := strings.Cut(r.resource, "/"); ok {
		resources = append(resources, "*/"+subresource)
	}
	narrow := slices.Clone(all)
	for _, resource := range resources {
		for _, wider := range narrow {
			wider.resource = resource
			all = append(all, wider)
		}
	}
	return all
}

// box is all combinations of an item of each list, in a namespace.
type box struct {
	namespace string
	lists     [5][]string
}

// The lists of a box, in the order in which they are merged. A list of names that is nil stands for every name.
const (
	verbs = iota
	names
	resources
	groups
	urls
)

// compact puts rights together to few rules, without those that another one includes. Rights that differ in one list only become one box; first by verb, then by name, resource, group
// and path, so that the outcome does not depend on the order of what comes in.
func compact(rights map[right]bool) []MissingRule {
	boxes := make([]box, 0, len(rights))
	for r := range rights {
		if slices.ContainsFunc(broader(r), func(b right) bool { return b != r && rights[b] }) {
			continue
		}
		b := box{namespace: r.namespace}
		b.lists[verbs] = []string{r.verb}
		if r.url != "" {
			b.lists[urls] = []string{r.url}
		} else {
			b.lists[groups], b.lists[resources] = []string{r.group}, []string{r.resource}
		}
		if r.named {
			b.lists[names] = []string{r.name}
		}
		boxes = append(boxes, b)
	}
	for list := range len(box{}.lists) {
		// Make one box of those that differ in one list only.
		index := map[string]int{}
		var merged []box
		for _, b := range boxes {
			// The key is the same for boxes that differ in this list only. Quotes keep words from running into one another.
			key := strconv.AppendQuote(nil, b.namespace)
			for i, words := range b.lists {
				key = strconv.AppendInt(append(key, ' '), int64(i), 10)
				if i == list {
					key = strconv.AppendBool(key, words == nil)
					continue
				}
				for _, word := range words {
					key = strconv.AppendQuote(key, word)
				}
			}
			at, ok := index[string(key)]
			if !ok {
				at = len(merged)
				index[string(key)] = at
				merged = append(merged, b)
				continue
			}
			merged[at].lists[list] = append(merged[at].lists[list], b.lists[list]...)
		}
		for i := range merged {
			slices.Sort(merged[i].lists[list])
			merged[i].lists[list] = slices.Compact(merged[i].lists[list])
		}
		boxes = merged
	}
	rules := make([]MissingRule, len(boxes))
	for i, b := range boxes {
		rules[i] = MissingRule{b.namespace, rbacv1.PolicyRule{
			Verbs: b.lists[verbs], APIGroups: b.lists[groups], Resources: b.lists[resources],
			ResourceNames: b.lists[names], NonResourceURLs: b.lists[urls],
		}}
	}
	slices.SortFunc(rules, func(a, b MissingRule) int {
		return cmp.Or(
			strings.Compare(a.Namespace, b.Namespace),
			slices.Compare(a.APIGroups, b.APIGroups),
			slices.Compare(a.Resources, b.Resources),
			slices.Compare(a.NonResourceURLs, b.NonResourceURLs),
			slices.Compare(a.ResourceNames, b.ResourceNames),
			slices.Compare(a.Verbs, b.Verbs),
		)
	})
	return rules
}
