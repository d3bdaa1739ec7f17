package permissions

import (
	"context"
	"errors"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"fairlead.dev/fairlead/test/must"
)

// inForce is a cluster with the shipped policies of a manager in a namespace.
func inForce(t *testing.T, namespace string) client.Client {
	t.Helper()
	c := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).Build()
	created, err := CreatePolicies(t.Context(), c, namespace)
	if err != nil || len(created) != 16 {
		t.Fatalf("created %q, %v", created, err)
	}
	return c
}

func TestShippedPoliciesAreInForce(t *testing.T) {
	for manager, ok := range map[string]bool{"": true, user("elsewhere"): true, user("olm"): false} {
		found, err := (&PolicyChecker{Reader: inForce(t, "elsewhere"), Manager: manager}).Check(t.Context())
		if err != nil || ok != (len(found) == 0) {
			t.Errorf("manager %q: %v, %v", manager, found, err)
		}
	}
	c := inForce(t, "olm")
	if created, err := CreatePolicies(t.Context(), c, "olm"); err != nil || len(created) != 0 {
		t.Errorf("created again: %q, %v", created, err)
	}
}

// TestWeakenedPoliciesAreNoticed changes one policy or its binding, in the ways that an administrator might.
func TestWeakenedPoliciesAreNoticed(t *testing.T) {
	ignore, exact := admissionv1.Ignore, admissionv1.NamespacedScope
	type policy = admissionv1.ValidatingAdmissionPolicy
	type binding = admissionv1.ValidatingAdmissionPolicyBinding
	for name, test := range map[string]struct {
		policy  func(*policy)
		binding func(*binding)
		want    string // empty: in force
	}{
		"as shipped":           {},
		"failurePolicy Ignore": {policy: func(p *policy) { p.Spec.FailurePolicy = &ignore }, want: "failurePolicy is Ignore"},
		"a parameter":          {policy: func(p *policy) { p.Spec.ParamKind = &admissionv1.ParamKind{Kind: "X"} }, want: "paramKind"},
		"another validation":   {policy: func(p *policy) { p.Spec.Validations[0].Expression = "true" }, want: "spec.validations[0]"},
		"no validation":        {policy: func(p *policy) { p.Spec.Validations = nil }, want: "spec.validations[0]"},
		"a wider validation":   {policy: func(p *policy) { p.Spec.Validations[0].Expression += " || true" }, want: "spec.validations[0]"},
		"one more condition": {policy: func(p *policy) {
			p.Spec.MatchConditions = append(p.Spec.MatchConditions, admissionv1.MatchCondition{Name: "me", Expression: "request.userInfo.username != 'me'"})
		}, want: "matchCondition me"},
		"another account is exempt": {policy: func(p *policy) {
			p.Spec.MatchConditions[0].Expression = "request.userInfo.username != 'system:serviceaccount:olm:other'"
		}, want: "matchCondition not-the-manager"},
		"another variable": {policy: func(p *policy) { p.Spec.Variables[0].Expression = "'x'" }, want: "variable account"},
		"creation alone": {policy: func(p *policy) {
			p.Spec.MatchConstraints.ResourceRules[0].Operations = []admissionv1.OperationType{admissionv1.Create}
		}, want: "do not cover CREATE, UPDATE"},
		"some names":      {policy: func(p *policy) { p.Spec.MatchConstraints.ResourceRules[0].ResourceNames = []string{"a"} }, want: "do not cover"},
		"another version": {policy: func(p *policy) { p.Spec.MatchConstraints.ResourceRules[0].APIVersions = []string{"v1"} }, want: "do not cover"},
		"another scope":   {policy: func(p *policy) { p.Spec.MatchConstraints.ResourceRules[0].Scope = &exact }, want: "do not cover"},
		"some objects": {policy: func(p *policy) {
			p.Spec.MatchConstraints.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
		}, want: "objectSelector"},
		"without some":   {policy: func(p *policy) { p.Spec.MatchConstraints.ExcludeResourceRules = p.Spec.MatchConstraints.ResourceRules }, want: "excludeResourceRules"},
		"no constraints": {policy: func(p *policy) { p.Spec.MatchConstraints = nil }, want: "no matchConstraints"},
		"a binding that audits": {binding: func(b *binding) {
			b.Spec.ValidationActions = []admissionv1.ValidationAction{admissionv1.Audit, admissionv1.Warn}
		}, want: "validationActions [Deny]"},
		"a binding for some namespaces": {binding: func(b *binding) {
			b.Spec.MatchResources = &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}
		}, want: "matchResources"},
		"a binding for some resources": {binding: func(b *binding) {
			b.Spec.MatchResources = &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{}}}
		}, want: "matchResources"},
		"a binding of another policy": {binding: func(b *binding) { b.Spec.PolicyName = "other" }, want: "ValidatingAdmissionPolicyBinding"},
		"a binding with a parameter":  {binding: func(b *binding) { b.Spec.ParamRef = &admissionv1.ParamRef{Name: "x"} }, want: "paramRef"},
		"it refuses the manager too":  {policy: func(p *policy) { p.Spec.MatchConditions = p.Spec.MatchConditions[1:] }},
		"no one may":                  {policy: func(p *policy) { p.Spec.Validations[0].Expression = "variables.account != ''" }},
		"no one at all":               {policy: func(p *policy) { p.Spec.Validations[0].Expression = "false" }},
		"one more validation": {policy: func(p *policy) {
			p.Spec.Validations = append(p.Spec.Validations, admissionv1.Validation{Expression: "false"})
		}},
		"another layout": {policy: func(p *policy) {
			p.Spec.Validations[0].Expression = strings.ReplaceAll(p.Spec.Validations[0].Expression, " ", "\n  ")
		}},
		"all operations": {policy: func(p *policy) {
			p.Spec.MatchConstraints.ResourceRules[0].Operations = []admissionv1.OperationType{admissionv1.OperationAll}
		}},
		"as the API server stores it": {policy: func(p *policy) { p.Spec.MatchConstraints.ObjectSelector = &metav1.LabelSelector{} }, binding: func(b *binding) {
			b.Spec.MatchResources = &admissionv1.MatchResources{ObjectSelector: &metav1.LabelSelector{}}
		}},
		"a binding that also audits": {binding: func(b *binding) { b.Spec.ValidationActions = append(b.Spec.ValidationActions, admissionv1.Audit) }},
		"a binding of another name":  {binding: func(b *binding) { b.Name, b.ResourceVersion = "other", "" }},
	} {
		t.Run(name, func(t *testing.T) {
			c := inForce(t, "olm")
			p, b := &policy{}, &binding{}
			for _, o := range []client.Object{p, b} {
				must.NoError(t, c.Get(t.Context(), client.ObjectKey{Name: ExtensionIdentity}, o))
			}
			if test.policy != nil {
				test.policy(p)
			}
			if test.binding != nil {
				test.binding(b)
			}
			must.NoError(t, errors.Join(c.Update(t.Context(), p), c.Delete(t.Context(), &binding{ObjectMeta: metav1.ObjectMeta{Name: ExtensionIdentity}})))
			b.ResourceVersion = ""
			must.NoError(t, c.Create(t.Context(), b))
			found, err := (&PolicyChecker{Reader: c}).Check(t.Context())
			if err != nil || test.want == "" && len(found) > 0 || test.want != "" && (len(found) != 1 || !strings.Contains(found[0].String(), test.want)) {
				t.Errorf("%v, %v; want %q", found, err, test.want)
			}
		})
	}
}

// TestWhatIsRequired of whom: without the policy that protects its identity a request is refused, and others are not.
func TestWhatIsRequired(t *testing.T) {
	for missing, refused := range map[string]string{
		ExtensionAccounts: "extension a/b", ExtensionIdentity: "extension ", RevisionAccounts: "extension a/b, revision a/b", RevisionIdentity: "extension , revision ",
		RevisionOwners: "extension , extension a/b, revision , revision a/b", RevisionStatus: "extension , extension a/b, revision , revision a/b",
		RevisionRemoval: "", RevisionForeground: "",
	} {
		c := inForce(t, "olm")
		must.NoError(t, c.Delete(t.Context(), &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: missing}}))
		var got []string
		for _, kind := range []string{"extension", "revision"} {
			for _, account := range []string{"", "a/b"} {
				err := (&PolicyChecker{Reader: c}).Require(t.Context(), account, kind == "revision")
				var lacks *MissingPolicyError
				if errors.As(err, &lacks) && lacks.Lacks(missing) && strings.Contains(err.Error(), "--accept-missing-policies") {
					got = append(got, kind+" "+account)
				} else if err != nil {
					t.Errorf("without %s: %v", missing, err)
				}
			}
		}
		must.Equal(t, "refused without "+missing, strings.Join(got, ", "), refused)
	}
	var none *PolicyChecker
	if err := none.Require(t.Context(), "", false); err != nil {
		t.Errorf("without a checker: %v", err)
	}
}

// TestAnAPIServerWithoutPolicies has none in force, and one that cannot be read is an error.
func TestAnAPIServerWithoutPolicies(t *testing.T) {
	broken := errors.New("the connection is broken")
	for name, test := range map[string]struct {
		answer error
		found  int
	}{"old": {&meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "ValidatingAdmissionPolicy"}}, 8}, "down": {broken, 0}} {
		c := interceptor.NewClient(fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).Build(), interceptor.Funcs{
			List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
				return test.answer
			},
			Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
				return test.answer
			}})
		found, err := (&PolicyChecker{Reader: c}).Check(t.Context())
		if len(found) != test.found || (test.found == 0) != errors.Is(err, broken) || len(found) > 0 && !strings.Contains(found[0].String(), "Kubernetes 1.30") {
			t.Errorf("%s: %v, %v", name, found, err)
		}
		if _, err := CreatePolicies(t.Context(), c, "olm"); err == nil || (test.found > 0) != errors.Is(err, ErrPoliciesNotServed) {
			t.Errorf("%s: create: %v", name, err)
		}
	}
}
