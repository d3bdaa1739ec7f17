package permissions

import (
	"maps"
	"slices"
)

// had is what subjects have, to be compared with what they get.
type had struct {
	*given
	work *budget
	// pool is what the service accounts of the revision have together; poolRoles are the roles outside the objects they are bound to.
	pool      *held
	poolRoles map[foreignRole]bool
}

func (h *held) add(rules []scopedRules) {
	for _, scoped := range rules {
		if scoped.namespace == "" {
			h.everywhere = h.everywhere.with(scoped.rules)
		} else {
			h.namespaces[scoped.namespace] = h.namespaces[scoped.namespace].with(scoped.rules)
		}
	}
}

// lacks is what a subject gets by later objects and does not have.
func (h *had) lacks(later *given, subject string) (Grant, error) {
	own := &held{work: h.work, namespaces: map[string]heldRules{}}
	own.add(h.rules[subject])
	pooled := later.accounts[subject]
	added := map[right]bool{}
	for _, scoped := range later.rules[subject] {
		for _, rule := range scoped.rules {
			rights, err := h.work.parts(scoped.namespace, rule)
			if err != nil {
				return Grant{}, err
			}
			for _, r := range rights {
				covered, err := own.covers(r)
				if err == nil && !covered && pooled {
					covered, err = h.pool.covers(r)
				}
				if err != nil {
					return Grant{}, err
				}
				if !covered {
					added[r] = true
				}
			}
		}
	}
	return Grant{Subject: subject, Rules: compact(added), Roles: h.newRoles(later, subject, pooled), Accounts: h.newAccounts(later, subject)}, nil
}

// newRoles are the roles outside the objects that a subject is newly bound to.
func (h *had) newRoles(later *given, subject string, pooled bool) []string {
	added := map[string]bool{}
	for role := range later.roles[subject] {
		everywhere := foreignRole{"", role.kind, role.name}
		if h.roles[subject][role] || h.roles[subject][everywhere] || pooled && (h.poolRoles[role] || h.poolRoles[everywhere]) {
			continue
		}
		text := "the " + role.kind + " " + role.name
		if role.namespace != "" {
			text += " in namespace " + role.namespace
		}
		added[text] = true
	}
	return slices.Sorted(maps.Keys(added))
}
