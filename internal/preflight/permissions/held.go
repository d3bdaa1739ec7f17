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
	everywhere []heldRule
	namespaces map[string][]heldRule
}

// heldRule is a rule whose lists can be looked into quickly.
type heldRule struct {
	verbs, groups, resources, names map[string]bool
	urls                            []string
}

func newHeld(subject Subject, source RuleSource, work *budget) (*held, error) {
	h := &held{subject: subject, source: source, work: work, namespaces: map[string][]heldRule{}}
	for _, group := range subject.Groups {
		h.all = h.all || group == superusers
	}
	if h.all {
		return h, nil
	}
	rules, err := source.Rules(subject, "")
	h.everywhere = heldRules(rules)
	return h, err
}

func heldRules(rules []rbacv1.PolicyRule) []heldRule {
	made := make([]heldRule, len(rules))
	for i, rule := range rules {
		made[i] = heldRule{set(rule.Verbs), set(rule.APIGroups), set(rule.Resources), set(rule.ResourceNames), rule.NonResourceURLs}
	}
	return made
}

func set(words []string) map[string]bool {
	s := make(map[string]bool, len(words))
	for _, word := range words {
		s[word] = true
	}
	return s
}

// in is what holds in a namespace besides what holds everywhere.
func (h *held) in(namespace string) ([]heldRule, error) {
	if namespace == "" {
		return nil, nil
	}
	if rules, ok := h.namespaces[namespace]; ok || h.source == nil {
		return rules, nil
	}
	rules, err := h.source.Rules(h.subject, namespace)
	if err != nil {
		return nil, err
	}
	h.namespaces[namespace] = heldRules(rules)
	return h.namespaces[namespace], nil
}

// allows says whether a request is authorised. One that names no object is also authorised by a rule for the empty name.
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

// covers says whether one of the rules that are held has the right in it: what the API server asks of whoever hands it on.
func (h *held) covers(r right) (bool, error) {
	if h.all {
		return true, nil
	}
	local, err := h.in(r.namespace)
	if err != nil {
		return false, err
	}
	for _, rules := range [][]heldRule{h.everywhere, local} {
		for i := range rules {
			if err := h.work.step(1 + len(rules[i].urls)); err != nil {
				return false, err
			}
			if rules[i].covers(r) {
				return true, nil
			}
		}
	}
	return false, nil
}

func (rule *heldRule) covers(r right) bool {
	switch {
	case !rule.verbs[rbacv1.VerbAll] && !rule.verbs[r.verb]:
		return false
	case len(rule.names) > 0 && !(r.named && rule.names[r.name]):
		return false
	case r.url != "":
		return rule.coversURL(r.url)
	}
	return (rule.groups[rbacv1.APIGroupAll] || rule.groups[r.group]) && rule.coversResource(r.resource)
}

// coversResource knows that */scale stands for the subresource scale of every resource.
func (rule *heldRule) coversResource(resource string) bool {
	if rule.resources[rbacv1.ResourceAll] || rule.resources[resource] {
		return true
	}
	_, subresource, ok := strings.Cut(resource, "/")
	return ok && rule.resources["*/"+subresource]
}

// coversURL knows that stars at the end stand for every path that begins like this.
func (rule *heldRule) coversURL(url string) bool {
	for _, granted := range rule.urls {
		if granted == url || strings.HasSuffix(granted, "*") && strings.HasPrefix(url, strings.TrimRight(granted, "*")) {
			return true
		}
	}
	return false
}
