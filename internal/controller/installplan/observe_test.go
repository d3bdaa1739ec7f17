package installplan

import (
	"testing"

	"fairlead.dev/fairlead/test/must"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"

	corev1 "k8s.io/api/core/v1"
)

func TestAccountOf(t *testing.T) {
	group := func(name, wants, has string, namespaces ...string) operatorsv1.OperatorGroup {
		g := operatorsv1.OperatorGroup{}
		g.Namespace, g.Name = "ns", name
		g.Spec.ServiceAccountName, g.Status.Namespaces = wants, namespaces
		if has != "" {
			g.Status.ServiceAccountRef = &corev1.ObjectReference{Kind: "ServiceAccount", Namespace: "ns", Name: has}
		}
		return g
	}
	const none = "no operator group found that is managing this namespace"
	tests := map[string]struct {
		groups  []operatorsv1.OperatorGroup
		account string
		problem string
	}{
		"none":                   {nil, "", none},
		"not processed yet":      {[]operatorsv1.OperatorGroup{group("a", "", "")}, "", none},
		"several":                {[]operatorsv1.OperatorGroup{group("a", "", "", ""), group("b", "", "", "ns"), group("c", "", "")}, "", "more than one operator group(s) are managing this namespace count=3"},
		"all namespaces":         {[]operatorsv1.OperatorGroup{group("a", "", "", "")}, "", ""},
		"named account":          {[]operatorsv1.OperatorGroup{group("a", "sa", "sa", "ns")}, "sa", ""},
		"account does not exist": {[]operatorsv1.OperatorGroup{group("a", "sa", "", "ns")}, "", "please make sure the service account exists. sa=sa operatorgroup=ns/a"},
		"account was changed":    {[]operatorsv1.OperatorGroup{group("a", "sa", "old", "ns")}, "", "please make sure the service account exists. sa=sa operatorgroup=ns/a"},
		"account was removed":    {[]operatorsv1.OperatorGroup{group("a", "", "old", "ns")}, "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ref, problem := accountOf(tc.groups)
			account := ""
			if ref != nil {
				account = ref.Name
			}
			must.Equal(t, "account", account, tc.account)
			must.Equal(t, "problem", problem, tc.problem)
		})
	}
}
