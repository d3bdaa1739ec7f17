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

func TestLine(t *testing.T) {
	all := operators{
		{namespace: "ns", name: "op.v1"}, {namespace: "ns", name: "op.v2", replaces: "op.v1"}, {namespace: "ns", name: "op.v4", replaces: "op.v3"},
		{namespace: "ns", name: "other.v1"}, {namespace: "elsewhere", name: "op.v9", replaces: "op.v2"},
		{namespace: "ns", name: "self", replaces: "self"},
	}
	tests := map[string]struct {
		incoming operator
		want     []string
	}{
		"the next version":            {operator{namespace: "ns", name: "op.v3", replaces: "op.v2"}, []string{"op.v1", "op.v2", "op.v3", "op.v4"}},
		"a first version":             {operator{namespace: "ns", name: "new.v1"}, []string{"new.v1"}},
		"replaced one is gone":        {operator{namespace: "ns", name: "op.v8", replaces: "op.v7"}, []string{"op.v7", "op.v8"}},
		"an operator replaces itself": {operator{namespace: "ns", name: "self", replaces: "self"}, []string{"self"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			want := map[string]bool{}
			for _, n := range tc.want {
				want[n] = true
			}
			must.Equal(t, "line", all.line(tc.incoming), want)
		})
	}
}
