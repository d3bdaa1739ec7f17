package revision

import (
	"errors"
	"fmt"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestNamespace(t *testing.T) {
	there := typed[corev1.Namespace](t, "{metadata: {name: sky}}")
	leaving := typed[corev1.Namespace](t, "{metadata: {name: sky, finalizers: [a/b], deletionTimestamp: 2026-01-01T00:00:00Z}}")
	for name, c := range map[string]struct {
		cluster client.Client
		want    string
	}{
		"it is there":       {world(there), ""},
		"another is there":  {world(typed[corev1.Namespace](t, "{metadata: {name: sea}}")), `namespaces "sky" not found: create namespace sky, which spec.namespace of ClusterExtension kite names`},
		"it is leaving":     {world(leaving), "namespace sky, which spec.namespace of ClusterExtension kite names, is being deleted"},
		"it cannot be read": {without(world(there), "Namespace", errRefused), "read namespace sky: connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			wantAnswer(t, Preflight{Client: c.cluster}.Namespace(t.Context(), kite()), c.want, "")
		})
	}
}

// operator is an OperatorCondition that reports whether the operator can be upgraded.
func operator(t *testing.T, name, owner, upgradeable string) *v2.OperatorCondition {
	t.Helper()
	return typed[v2.OperatorCondition](t, fmt.Sprintf(`
metadata: {name: %s, namespace: sky, ownerReferences: [{apiVersion: olm.operatorframework.io/v1, kind: ClusterExtension, name: x, uid: %s}]}
status: {conditions: [{type: Upgradeable, status: %q, reason: Busy, message: a migration goes on, lastTransitionTime: 2026-01-01T00:00:00Z}]}`, name, owner, upgradeable))
}

func TestConditionName(t *testing.T) {
	r := made(t, 1, Bundle{Name: "kite.v1.0.0"}).Set
	must.Equal(t, "by default it is not that of the extension", ConditionName(kite(), r), "kite")
	r.Annotations[ConditionNameKey] = "kite.v1.0.0"
	must.Equal(t, "it is not what the revision", ConditionName(kite(), r), "kite.v1.0.0")
}

func TestCondition(t *testing.T) {
	r := made(t, 1, Bundle{Name: "kite.v1.0.0"}).Set
	there := world(operator(t, "kite", "ext", "True"), operator(t, "hawk", "ext", "True"))
	for name, c := range map[string]struct {
		cluster client.Client
		want    string // its name
		err     string
	}{
		"there":                {there, "kite", ""},
		"not there":            {world(operator(t, "hawk", "ext", "True")), "", ""},
		"its kind is not":      {without(there, "OperatorCondition", &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "OperatorCondition"}}), "", ""},
		"that cannot be known": {without(there, "OperatorCondition", errRefused), "", "read OperatorCondition sky/kite of ClusterExtension kite: connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			live, err := Condition(t.Context(), c.cluster, kite(), r)
			wantAnswer(t, err, c.err, "")
			if (live != nil) != (c.want != "") || live != nil && live.Name != c.want {
				t.Errorf("it is %v, want %q", live, c.want)
			}
		})
	}
}

func TestOwns(t *testing.T) {
	for name, c := range map[string]struct {
		owners []string
		want   bool
	}{
		"nobody's":            {nil, false},
		"another's":           {[]string{"other"}, false},
		"its own":             {[]string{"ext"}, true},
		"its own and others'": {[]string{"other", "ext"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			o := &corev1.Secret{}
			for _, uid := range c.owners {
				o.OwnerReferences = append(o.OwnerReferences, metav1.OwnerReference{UID: types.UID(uid)})
			}
			must.Equal(t, "owned", Owns(kite(), o), c.want)
		})
	}
}

func TestUpgradeable(t *testing.T) {
	one, two := Bundle{Name: "kite.v1.0.0"}, Bundle{Name: "kite.v2.0.0"}
	installed, renamed, rollsOut := *made(t, 1, one).Set, *made(t, 1, one).Set.DeepCopy(), *made(t, 1, one).Set.DeepCopy()
	renamed.Annotations[ConditionNameKey] = "wind"
	rollsOut.Status.Conditions = nil
	no := world(operator(t, "kite", "ext", "False"))
	const refused = "operator is not upgradeable: the operatorcondition sky/kite says"
	for name, c := range map[string]struct {
		cluster  client.Client
		of       []olmv1.ClusterObjectSet
		to       Bundle
		repeated bool
		want     string
	}{
		"it says no":                          {no, []olmv1.ClusterObjectSet{installed}, two, false, refused},
		"it says yes":                         {world(operator(t, "kite", "ext", "True")), []olmv1.ClusterObjectSet{installed}, two, false, ""},
		"it says nothing":                     {world(), []olmv1.ClusterObjectSet{installed}, two, false, ""},
		"somebody else says no":               {world(operator(t, "kite", "other", "False")), []olmv1.ClusterObjectSet{installed}, two, false, ""},
		"it says no under its own name":       {world(operator(t, "wind", "ext", "False")), []olmv1.ClusterObjectSet{renamed}, two, false, "operator is not upgradeable: the operatorcondition sky/wind says"},
		"no under a name that it left":        {no, []olmv1.ClusterObjectSet{renamed}, two, false, ""},
		"no, but it stays what it is":         {no, []olmv1.ClusterObjectSet{installed}, one, false, ""},
		"no, but it goes back":                {no, []olmv1.ClusterObjectSet{installed}, two, true, ""},
		"no, but it has never run":            {no, []olmv1.ClusterObjectSet{rollsOut}, two, false, ""},
		"no, and what is installed is new":    {no, nil, two, false, ""},
		"what it says cannot be read":         {without(no, "OperatorCondition", errRefused), []olmv1.ClusterObjectSet{installed}, two, false, "read OperatorCondition sky/kite"},
		"cannot be read, but does not matter": {without(no, "OperatorCondition", errRefused), []olmv1.ClusterObjectSet{installed}, one, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := Preflight{Client: c.cluster}.Upgradeable(t.Context(), Change{Extension: kite(), Revisions: c.of, Bundle: c.to, Repeated: c.repeated})
			wantAnswer(t, err, c.want, "") // the operator changes its mind by itself
			says := errors.As(err, new(*NotUpgradeable))
			if asked := contains(err, "operator is not upgradeable"); says != asked || asked && !contains(err, "the upgrade to kite.v2.0.0 continues when the operator says so") {
				t.Errorf("the operator's word: %t; %v", says, err)
			}
		})
	}
}
