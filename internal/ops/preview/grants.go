package preview

import (
	"strings"

	"fairlead.dev/fairlead/internal/rollout/permissions"
)

// Grant is what a subject may do in addition, for programs and pages that show it.
type Grant struct {
	// Subject is as in the text of a plan, such as "ServiceAccount NAMESPACE/NAME".
	Subject string
	// Rules are those of the whole cluster, then those of namespaces. Others are what it gets that has no rules here.
	Rules  []GrantRule
	Others []string
}

// GrantRule is a rule; Namespace is empty where it holds in the whole cluster.
type GrantRule struct {
	Namespace string
	// Verbs are what may be done, To what: resources as RESOURCE.GROUP, or paths.
	Verbs, To, Names []string
}

// grantsOf are the grants of an increase; none where it is not known what is added, which its text says.
func grantsOf(i *permissions.Increase) (all []Grant) {
	for _, g := range i.Grants {
		one := Grant{Subject: g.Subject}
		for _, everywhere := range []bool{true, false} {
			for _, r := range g.Rules {
				if (r.Namespace == "") != everywhere {
					continue
				}
				rule := GrantRule{Namespace: r.Namespace, Verbs: r.Verbs, Names: r.ResourceNames, To: append([]string{}, r.NonResourceURLs...)}
				groups := r.APIGroups
				if len(groups) == 0 {
					groups = []string{""}
				}
				for _, group := range groups {
					for _, resource := range r.Resources {
						rule.To = append(rule.To, strings.TrimSuffix(resource+"."+group, "."))
					}
				}
				one.Rules = append(one.Rules, rule)
			}
		}
		for _, role := range g.Roles {
			one.Others = append(one.Others, "all that is allowed by "+role)
		}
		for _, account := range g.Accounts {
			one.Others = append(one.Others, "all that the "+account+" may do, which is not part of the bundle")
		}
		all = append(all, one)
	}
	return all
}
