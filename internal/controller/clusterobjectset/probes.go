package clusterobjectset

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout"
)

// defaultProbes say when the objects of well-known kinds are available.
var defaultProbes = map[schema.GroupKind]rollout.Probe{
	{Kind: "Namespace"}:             rollout.FieldValue("status.phase", "Active"),
	{Kind: "PersistentVolumeClaim"}: rollout.FieldValue("status.phase", "Bound"),
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: rollout.Established,
	{Group: "cert-manager.io", Kind: "Certificate"}:                   rollout.Condition("Ready", "True"),
	{Group: "cert-manager.io", Kind: "Issuer"}:                        rollout.Condition("Ready", "True"),
}

// probe is one that the user of a set asks for.
type probe struct {
	selects func(u *unstructured.Unstructured) bool
	rollout.Probe
}

// userProbes are the probes of a set.
func userProbes(set *olmv1.ClusterObjectSet) ([]probe, error) {
	var out []probe
	for i, spec := range set.Spec.ProgressionProbes {
		selects, err := selector(spec.Selector)
		if err != nil {
			return nil, fmt.Errorf("spec.progressionProbes[%d].selector: %w", i, err)
		}
		var all []rollout.Probe
		for j, a := range spec.Assertions {
			p, err := assertion(a)
			if err != nil {
				return nil, fmt.Errorf("spec.progressionProbes[%d].assertions[%d]: %w", i, j, err)
			}
			all = append(all, p)
		}
		out = append(out, probe{selects, rollout.All(all...)})
	}
	return out, nil
}

func selector(s olmv1.ObjectSelector) (func(*unstructured.Unstructured) bool, error) {
	switch {
	case s.GroupKind != nil:
		kind := schema.GroupKind{Group: s.GroupKind.Group, Kind: s.GroupKind.Kind}
		return func(u *unstructured.Unstructured) bool { return u.GroupVersionKind().GroupKind() == kind }, nil
	case s.Label != nil:
		selects, err := metav1.LabelSelectorAsSelector(s.Label)
		if err != nil {
			return nil, err
		}
		return func(u *unstructured.Unstructured) bool { return selects.Matches(labels.Set(u.GetLabels())) }, nil
	}
	return nil, fmt.Errorf("of type %s has nothing to select by", s.Type)
}

func assertion(a olmv1.Assertion) (rollout.Probe, error) {
	switch {
	case a.ConditionEqual != nil:
		return rollout.Condition(a.ConditionEqual.Type, a.ConditionEqual.Status), nil
	case a.FieldsEqual != nil:
		return rollout.FieldsEqual(a.FieldsEqual.FieldA, a.FieldsEqual.FieldB), nil
	case a.FieldValue != nil:
		return rollout.FieldValue(a.FieldValue.FieldPath, a.FieldValue.Value), nil
	}
	return nil, fmt.Errorf("of type %s asserts nothing", a.Type)
}

// probeOf is what an object has to satisfy; a controller that has not seen the latest generation has not said anything about it yet. Workload is what a
// workload has to satisfy; nil for other objects.
func probeOf(u *unstructured.Unstructured, users []probe, workload func(*unstructured.Unstructured) rollout.Probe) rollout.Probe {
	all := []rollout.Probe{rollout.Observed}
	if p := workload(u); p != nil {
		all = []rollout.Probe{p}
	} else if p := defaultProbes[u.GroupVersionKind().GroupKind()]; p != nil {
		all = append(all, p)
	}
	for _, p := range users {
		all = append(all, func(live *unstructured.Unstructured) string {
			if !p.selects(live) {
				return ""
			}
			return p.Probe(live)
		})
	}
	return rollout.All(all...)
}
