package preview

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// TestRoleNameOfASubscription: Subscriptions of one name in several namespaces, and a ClusterExtension of that name, do not share ClusterRoles.
func TestRoleNameOfASubscription(t *testing.T) {
	must.Equal(t, "name", roleName("ops", "mine"), "ops:mine-installer")
	long := strings.Repeat("n", 63)
	seen := map[string]bool{"mine-installer": true}
	for _, sub := range [][2]string{{"ops", "mine"}, {"team", "mine"}, {"a", "b-c"}, {"a-b", "c"}, {long, strings.Repeat("s", 252) + "a"}, {long, strings.Repeat("s", 252) + "b"}} {
		name := roleName(sub[0], sub[1])
		if seen[name] || len(name) > 253 || !strings.HasPrefix(name, sub[0]+":") || !strings.HasSuffix(name, "-installer") {
			t.Errorf("%s/%s: %s", sub[0], sub[1], name)
		}
		seen[name] = true
	}
}

// unowned is a namespace confined to an account, and a definition that an operator elsewhere brought which is gone: greeter-operator redefines it.
func unowned(t *testing.T) []client.Object {
	t.Helper()
	objects := confine(subscribed(t, "greeter-operator", ""), "")
	for _, u := range must.Value(bundle.Steps(load(t, "1.0.0"), bundle.StepTarget{Namespace: "theirs"}))(t) {
		if u.GetKind() == crdKind {
			objects = append(objects, asServed(t, u, "theirs/gone.v1"))
		}
	}
	return objects
}

// TestAccountThatMustPatchADefinition: the account must be allowed to patch a definition that no operator has, or that others share.
func TestAccountThatMustPatchADefinition(t *testing.T) {
	p := planner(t, unowned(t)...)
	plan, text := ahead(t, p)
	must.Equal(t, "verdict", plan.Operators[0].CRDs[0].Verdict, CRDUnchecked)
	must.Contain(t, "text", text, "    greetings.demo.fairlead.dev: unchecked\n",
		"other operators share it, or no operator has it, so ServiceAccount ops/scoped must be allowed to patch it: it is not\n")
	must.Contain(t, "roles", plan.MissingRoles, "resourceNames:\n  - greetings.demo.fairlead.dev\n  resources:\n  - customresourcedefinitions\n  verbs:\n  - patch\n")
	for document := range strings.SplitSeq(plan.MissingRoles, "---\n") {
		u := &unstructured.Unstructured{}
		must.NoError(t, yaml.Unmarshal([]byte(document), &u.Object))
		must.NoError(t, p.Client.Create(t.Context(), u))
	}
	plan, text = ahead(t, p)
	if c := plan.Operators[0].CRDs[0]; c.Verdict != CRDSafe || len(c.Findings) > 0 || plan.Blocked() || plan.MissingRoles != "" {
		t.Errorf("with the right to patch it: %+v\n%s", c, text)
	}

	plan, text = ahead(t, forbid(t, planner(t, unowned(t)...), "ClusterRole"))
	must.Equal(t, "verdict without roles", plan.Operators[0].CRDs[0].Verdict, CRDUnchecked)
	must.Contain(t, "text", text, "must be allowed to patch it: whether it is, is not known\n", "\nwhat ServiceAccount ops/scoped lacks was not examined: roles and bindings cannot be read as user tina")

	objects := unowned(t) // in a namespace that is confined to no account the manager's rights do
	for _, o := range objects {
		if group, is := o.(*operatorsv1.OperatorGroup); is {
			group.Spec.ServiceAccountName = ""
		}
	}
	plan, text = ahead(t, planner(t, objects...))
	if c := plan.Operators[0].CRDs[0]; c.Verdict != CRDSafe || plan.Blocked() {
		t.Errorf("without an account: %+v\n%s", c, text)
	}
}

// TestRightsThatAreNotExamined: a plan whose rights come to too many is printed nevertheless, and says in all forms that they were not examined.
func TestRightsThatAreNotExamined(t *testing.T) {
	many := rbacv1.PolicyRule{APIGroups: []string{"example.com"}}
	for i := range 400 {
		many.Verbs, many.Resources = append(many.Verbs, fmt.Sprintf("verb%d", i)), append(many.Resources, fmt.Sprintf("things%d", i))
	}
	plan, text := ahead(t, planner(t, confine(subscribed(t, "greeter-operator", ""), "")...), func(b *bundle.Bundle) {
		s := &b.CSV.Spec.InstallStrategy.StrategySpec
		s.ClusterPermissions[0].Rules = append(s.ClusterPermissions[0].Rules, many)
	})
	must.Contain(t, "why", plan.NotExamined, "the rules come to more than 100000 combinations")
	must.Contain(t, "text", text, "\nwhat ServiceAccount ops/scoped lacks was not examined: ", "the rules come to more than", "ClusterServiceVersion ops/greeter-operator.v1.2.0\n")
	must.Contain(t, "JSON", string(must.Value(json.Marshal(plan))(t)), `"notExamined":"`, `"serviceAccount":"scoped"`)
}
