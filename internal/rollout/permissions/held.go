package permissions

import (
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// held is what a subject may do: everywhere, and besides in single namespaces.
type held struct {
	subject Subject
	// source tells what is held in a namespace when it is first asked for; without one, namespaces has it all.
	source     RuleSource
	work       *budget
	all        bool
	everywhere heldRules
	namespaces map[string]heldRules
}

// heldRules are rules that can be looked into quickly: by their resources, and those that have paths.
type heldRules struct {
	of    map[string][]*heldRule
	paths []*heldRule
}

type heldRule struct {
	verbs, groups, names map[string]bool
	urls                 []string
}

// with adds rules.
func (h heldRules) with(rules []rbacv1.PolicyRule) heldRules {
	if h.of == nil {
		h.of = map[string][]*heldRule{}
	}
	for _, rule := range rules {
		held := &heldRule{set(rule.Verbs), set(rule.APIGroups), set(rule.ResourceNames), rule.NonResourceURLs}
		for _, resource := range rule.Resources {
			h.of[resource] = append(h.of[resource], held)
		}
		if len(rule.NonResourceURLs) > 0 {
			h.paths = append(h.paths, held)
		}
	}
	return h
}

func set(words []string) map[string]bool {
	s := make(map[string]bool, len(words))
	for _, word := range words {
		s[word] = true
	}
	return s
}

// allows reports whether a request is authorised. One that names no object is also authorised by a rule for the empty name.
func (h *held) allows(r right) (bool, error) {
	if !r.named {
		unnamed := r
		unnamed.named = true
		if ok, err := h.covers(unnamed); ok || err != nil {
			return ok, err
		}
	}
	return h.covers(r)
}

// covers reports whether one of the rules that are held has the right in it: what the API server asks of the one who hands it on.
func (h *held) covers(r right) (bool, error) {
	if h.all {
		return true, nil
	}
	local, known := h.namespaces[r.namespace] // what holds there besides what holds everywhere
	if !known && r.namespace != "" && h.source != nil {
		rules, err := h.source.Rules(h.subject, r.namespace)
		if err != nil {
			return false, err
		}
		local = heldRules{}.with(rules)
		h.namespaces[r.namespace] = local
	}
	for _, rules := range []heldRules{h.everywhere, local} {
		all := [][]*heldRule{rules.paths}
		if r.url == "" {
			all = [][]*heldRule{rules.of[r.resource], rules.of[rbacv1.ResourceAll]}
			if _, subresource, ok := strings.Cut(r.resource, "/"); ok { // */scale stands for the subresource scale of every resource
				all = append(all, rules.of["*/"+subresource])
			}
		}
		for _, candidates := range all {
			for _, rule := range candidates {
				if err := h.work.step(1 + len(rule.urls)); err != nil {
					return false, err
				}
				if rule.covers(r) {
					return true, nil
				}
			}
		}
	}
	return false, nil
}

// covers expects a rule on the resource.
func (rule *heldRule) covers(r right) bool {
	switch {
	case !rule.verbs[rbacv1.VerbAll] && !rule.verbs[r.verb]:
		return false
	case len(rule.names) > 0 && !(r.named && rule.names[r.name]):
		return false
	case r.url != "":
		// Know that stars at the end stand for every path that begins like this.
		for _, granted := range rule.urls {
			if granted == r.url || strings.HasSuffix(granted, "*") && strings.HasPrefix(r.url, strings.TrimRight(granted, "*")) {
				return true
			}
		}
		return false
	}
	return rule.groups[rbacv1.APIGroupAll] || rule.groups[r.group]
}
