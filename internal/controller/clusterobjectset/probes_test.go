package clusterobjectset

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/test/must"
)

func TestProbes(t *testing.T) {
	kind := func(group, kind string) olmv1.ObjectSelector {
		return olmv1.ObjectSelector{Type: olmv1.SelectorTypeGroupKind, GroupKind: &metav1.GroupKind{Group: group, Kind: kind}}
	}
	label := func(s metav1.LabelSelector) olmv1.ObjectSelector {
		return olmv1.ObjectSelector{Type: olmv1.SelectorTypeLabel, Label: &s}
	}
	value := olmv1.Assertion{Type: olmv1.AssertionTypeFieldValue, FieldValue: &olmv1.FieldValueProbe{FieldPath: "data.name", Value: "go"}}
	equal := olmv1.Assertion{Type: olmv1.AssertionTypeFieldsEqual, FieldsEqual: &olmv1.FieldsEqualProbe{FieldA: "spec.count", FieldB: "status.count"}}
	ready := olmv1.Assertion{Type: olmv1.AssertionTypeConditionEqual, ConditionEqual: &olmv1.ConditionEqualProbe{Type: "Ready", Status: "True"}}
	tests := map[string]struct {
		object  string
		selects olmv1.ObjectSelector
		asserts []olmv1.Assertion
		want    string // part of what is missing; empty is nothing
	}{
		"no probe":                    {object: "{apiVersion: v1, kind: ConfigMap}"},
		"namespace":                   {object: "{apiVersion: v1, kind: Namespace, status: {phase: Active}}"},
		"namespace that goes":         {object: "{apiVersion: v1, kind: Namespace, status: {phase: Terminating}}", want: `value at key "status.phase" != "Active"; expected: "Active" got: "Terminating"`},
		"claim":                       {object: "{apiVersion: v1, kind: PersistentVolumeClaim, status: {phase: Bound}}"},
		"claim without volume":        {object: "{apiVersion: v1, kind: PersistentVolumeClaim, status: {phase: Pending}}", want: `value at key "status.phase" != "Bound"; expected: "Bound" got: "Pending"`},
		"new CRD":                     {object: "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}", want: "NamesAccepted"},
		"CRD":                         {object: `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, status: {conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "True"}]}}`},
		"certificate":                 {object: "{apiVersion: cert-manager.io/v1, kind: Certificate}", want: "Ready is not set"},
		"issuer":                      {object: `{apiVersion: cert-manager.io/v1, kind: Issuer, status: {conditions: [{type: Ready, status: "False"}]}}`, want: "Ready is False"},
		"deployment":                  {object: `{apiVersion: apps/v1, kind: Deployment, status: {replicas: 1, updatedReplicas: 1, conditions: [{type: Available, status: "True"}]}}`},
		"deployment in the middle":    {object: `{apiVersion: apps/v1, kind: Deployment, status: {replicas: 2, updatedReplicas: 1, conditions: [{type: Available, status: "True"}]}}`, want: "1 old replicas are pending termination"},
		"deployment that was changed": {object: `{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 2}, status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, conditions: [{type: Available, status: "True"}]}}`, want: "rollout not yet observed"},
		"set of pods":                 {object: "{apiVersion: apps/v1, kind: StatefulSet, spec: {replicas: 2}, status: {updatedReplicas: 2, readyReplicas: 2}}"},
		"set of pods that starts":     {object: "{apiVersion: apps/v1, kind: StatefulSet, spec: {replicas: 2}, status: {updatedReplicas: 2, readyReplicas: 1}}", want: "1 of 2 replicas are ready"},

		"value":                 {object: "{apiVersion: v1, kind: ConfigMap, data: {name: go}}", selects: kind("", "ConfigMap"), asserts: []olmv1.Assertion{value}},
		"other value":           {object: "{apiVersion: v1, kind: ConfigMap, data: {name: stop}}", selects: kind("", "ConfigMap"), asserts: []olmv1.Assertion{value}, want: `value at key "data.name" != "go"; expected: "go" got: "stop"`},
		"value of another kind": {object: "{apiVersion: v1, kind: ConfigMap, data: {name: stop}}", selects: kind("apps", "ConfigMap"), asserts: []olmv1.Assertion{value}},
		"equal":                 {object: "{apiVersion: a/v1, kind: A, spec: {count: 2}, status: {count: 2}}", selects: kind("a", "A"), asserts: []olmv1.Assertion{equal}},
		"unequal":               {object: "{apiVersion: a/v1, kind: A, spec: {count: 2}, status: {count: 1}}", selects: kind("a", "A"), asserts: []olmv1.Assertion{equal}, want: "spec.count is 2, but status.count is 1"},
		"condition":             {object: `{apiVersion: a/v1, kind: A, status: {conditions: [{type: Ready, status: "False", reason: R}]}}`, selects: kind("a", "A"), asserts: []olmv1.Assertion{ready}, want: "Ready is False: R"},
		"not seen":              {object: `{apiVersion: a/v1, kind: A, metadata: {generation: 3}, status: {observedGeneration: 2, conditions: [{type: Ready, status: "True"}]}}`, selects: kind("a", "A"), asserts: []olmv1.Assertion{ready}, want: "generation 3"},
		"second assertion":      {object: `{apiVersion: a/v1, kind: A, spec: {count: 1}, status: {count: 2, conditions: [{type: Ready, status: "True"}]}}`, selects: kind("a", "A"), asserts: []olmv1.Assertion{ready, equal}, want: "spec.count"},
		"by label":              {object: "{apiVersion: v1, kind: ConfigMap, metadata: {labels: {a: b}}}", selects: label(metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}), asserts: []olmv1.Assertion{value}, want: "data.name is not set"},
		"by another label":      {object: "{apiVersion: v1, kind: ConfigMap, metadata: {labels: {a: b}}}", selects: label(metav1.LabelSelector{MatchLabels: map[string]string{"a": "c"}}), asserts: []olmv1.Assertion{value}},
		"by expression":         {object: "{apiVersion: v1, kind: ConfigMap, metadata: {labels: {a: b}}}", selects: label(metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: metav1.LabelSelectorOpExists}}}), asserts: []olmv1.Assertion{value}, want: "data.name"},
	}
	w := newWorld(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			set := &olmv1.ClusterObjectSet{}
			if tc.asserts != nil {
				set.Spec.ProgressionProbes = []olmv1.ProgressionProbe{{Selector: tc.selects, Assertions: tc.asserts}}
			}
			users := must.Value(userProbes(set))(t)
			live := object(t, tc.object)
			// What tests write as YAML has numbers of another type than what the API server sends.
			got := probeOf(live, users, func(u *unstructured.Unstructured) rollout.Probe {
				return rollout.WorkloadProbe(t.Context(), u, rollout.Judge{Reader: w.Inner, Clock: clock.RealClock{}}, func(rollout.Health) {})
			})(integers(live))
			if !strings.Contains(got, tc.want) || (got == "") != (tc.want == "") {
				t.Errorf("missing: %q, want %q", got, tc.want)
			}
		})
	}
}

// TestProbesThatSayNothing are refused: the API server does not let them pass.
func TestProbesThatSayNothing(t *testing.T) {
	for name, p := range map[string]olmv1.ProgressionProbe{
		"selector":   {Selector: olmv1.ObjectSelector{Type: olmv1.SelectorTypeLabel}},
		"expression": {Selector: olmv1.ObjectSelector{Label: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}}}},
		"assertion":  {Selector: olmv1.ObjectSelector{GroupKind: &metav1.GroupKind{Kind: "A"}}, Assertions: []olmv1.Assertion{{Type: olmv1.AssertionTypeFieldValue}}},
	} {
		set := &olmv1.ClusterObjectSet{}
		set.Spec.ProgressionProbes = []olmv1.ProgressionProbe{p}
		if _, err := userProbes(set); err == nil || !strings.Contains(err.Error(), "spec.progressionProbes[0]") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
