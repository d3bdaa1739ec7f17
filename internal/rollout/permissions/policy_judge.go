package permissions

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// weaker is how a live policy lets through what the shipped one refuses; empty when it does not. A live policy may refuse more: it may have more
// validations, fewer conditions, and validations without their alternatives, as the chart's managerIdentity "nobody" has.
func weaker(shipped, live *admissionv1.ValidatingAdmissionPolicySpec, manager string) string {
	if live.FailurePolicy != nil && *live.FailurePolicy != admissionv1.Fail {
		return "its failurePolicy is " + string(*live.FailurePolicy)
	}
	if live.ParamKind != nil {
		return "it has a paramKind"
	}
	if why := narrower(shipped.MatchConstraints, live.MatchConstraints); why != "" {
		return why
	}
	for _, condition := range live.MatchConditions {
		if !slices.ContainsFunc(shipped.MatchConditions, func(s admissionv1.MatchCondition) bool {
			return sameCondition(s.Expression, condition.Expression, manager)
		}) {
			return fmt.Sprintf("its matchCondition %s is another one", condition.Name)
		}
	}
	for _, v := range live.Variables {
		i := slices.IndexFunc(shipped.Variables, func(s admissionv1.Variable) bool { return s.Name == v.Name })
		if i >= 0 && flat(shipped.Variables[i].Expression) != flat(v.Expression) {
			return fmt.Sprintf("its variable %s is another one", v.Name)
		}
	}
	for i, s := range shipped.Validations {
		if !slices.ContainsFunc(live.Validations, func(v admissionv1.Validation) bool {
			live := flat(v.Expression)
			shipped := flat(s.Expression)
			return live == "false" || live == shipped || strings.HasPrefix(shipped, live+" || ")
		}) {
			return fmt.Sprintf("its validations lack spec.validations[%d] of the shipped policy", i)
		}
	}
	return ""
}

// narrower is what a live policy or binding leaves out.
func narrower(shipped, live *admissionv1.MatchResources) string {
	if live == nil {
		return "it has no matchConstraints"
	}
	if why := selects(live); why != "" {
		return why
	}
	for _, rule := range shipped.ResourceRules {
		covered := func(l admissionv1.NamedRuleWithOperations) bool {
			return len(l.ResourceNames) == 0 && (l.Scope == nil || *l.Scope == admissionv1.AllScopes || *l.Scope == admissionv1.ClusterScope) &&
				covers(l.APIGroups, rule.APIGroups) && covers(l.APIVersions, rule.APIVersions) && covers(l.Resources, rule.Resources) &&
				covers(l.Operations, rule.Operations)
		}
		if !slices.ContainsFunc(live.ResourceRules, covered) {
			var out []string
			for _, o := range rule.Operations {
				out = append(out, string(o))
			}
			return fmt.Sprintf("its resourceRules do not cover %s of %s", strings.Join(out, ", "), strings.Join(rule.Resources, ", "))
		}
	}
	return ""
}

// selects is how selectors narrow what is matched.
func selects(m *admissionv1.MatchResources) string {
	switch {
	case !selectsAll(m.NamespaceSelector):
		return "it has a namespaceSelector"
	case !selectsAll(m.ObjectSelector):
		return "it has an objectSelector"
	case len(m.ExcludeResourceRules) > 0:
		return "it has excludeResourceRules"
	}
	return ""
}

func selectsAll(s *metav1.LabelSelector) bool {
	return s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0
}

// covers reports whether the first list has everything of the second, by the star or one by one.
func covers[T ~string](live, shipped []T) bool {
	return slices.Contains(live, "*") || sets.New(live...).HasAll(shipped...)
}

// space is what the layout of an expression leaves open.
var space = regexp.MustCompile(`\s+`)

func flat(expression string) string {
	return strings.TrimSpace(space.ReplaceAllString(expression, " "))
}

// someManager is a manager's account in any namespace, as an expression names it.
var someManager = regexp.MustCompile(`'system:serviceaccount:[a-z0-9-]+:fairlead-manager'`)

// sameCondition compares expressions, in which the account of the manager is the one that is given, or any manager's when that is empty.
func sameCondition(shipped, live, manager string) bool {
	shipped, live = flat(shipped), flat(live)
	if manager != "" {
		return someManager.ReplaceAllLiteralString(shipped, "'"+manager+"'") == live
	}
	return someManager.ReplaceAllLiteralString(shipped, "''") == someManager.ReplaceAllLiteralString(live, "''")
}

// denies reports whether a binding puts a policy in force everywhere.
func denies(b *admissionv1.ValidatingAdmissionPolicyBinding) bool {
	m := b.Spec.MatchResources
	return b.DeletionTimestamp.IsZero() && slices.Contains(b.Spec.ValidationActions, admissionv1.Deny) && b.Spec.ParamRef == nil &&
		(m == nil || selects(m) == "" && len(m.ResourceRules) == 0)
}
