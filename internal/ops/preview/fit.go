package preview

import (
	"encoding/json"
	"fmt"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/tenancy"

	"k8s.io/apimachinery/pkg/api/meta"
)

// Misfit is an operator that would be chosen, and then wait for an OperatorGroup that fits, or fail: because another one provides its APIs, or because no
// cluster can install it.
type Misfit struct {
	Operator string `json:"operator"`
	// Reason is what is wrong with the OperatorGroups, or with the operator.
	Reason string `json:"reason"`
	// Advice is the OperatorGroup that would do, or what to change.
	Advice string `json:"advice,omitempty"`
	// Fails: the operator would not wait, but fail.
	Fails bool `json:"fails,omitempty"`
}

// fitting compares operators with the OperatorGroup of a namespace.
type fitting struct {
	namespace *snapshot.Namespace
	complete  bool // its objects are all that the namespace has
	rivals    []*operatorsv1.OperatorGroup
}

// misfits are the chosen operators that no cluster can install, as far as the catalog tells, and those that could not run in the targets of the
// OperatorGroup. Where the catalog does not say which install modes an operator supports, or the question not which groups there are, nothing is said
// of these.
func (f fitting) misfits(groups []resolution.Group) []Misfit {
	var all []Misfit
	for i := range groups {
		for _, c := range groups[i].Choices {
			if m := f.misfit(c); m != nil {
				m.Operator = c.Bundle.Name
				all = append(all, *m)
			}
		}
	}
	return all
}

func (f fitting) misfit(c resolution.Choice) *Misfit {
	csv := &v1alpha1.ClusterServiceVersion{}
	if source := f.namespace.Source(c.Catalog); source != nil && source.Healthy() {
		csv = described(source.Served.Index, c.Bundle)
	}
	for _, err := range []error{bundle.CheckOperatorName(c.Bundle.Name), bundle.CheckOwned(csv)} {
		if err != nil {
			return uninstallable(err)
		}
	}
	if csv.Spec.InstallModes == nil {
		return nil // the catalog does not say which
	}
	return f.unfit(csv)
}

// uninstallable is the misfit of an operator that no cluster can install.
func uninstallable(why error) *Misfit {
	return &Misfit{Reason: why.Error(), Advice: "ask its author to correct it, or install another version", Fails: true}
}

// unfit is why an operator could not run, and which OperatorGroup would do; nil when it could, or when that is not known.
func (f fitting) unfit(csv *v1alpha1.ClusterServiceVersion) *Misfit {
	groups := f.namespace.Groups
	switch {
	case len(groups) == 0 && f.complete:
		return &Misfit{Reason: fmt.Sprintf("namespace %s has no OperatorGroup", f.namespace.Name), Advice: tenancy.Advice(csv, f.namespace.Name, "operators")}
	case len(groups) > 1:
		return &Misfit{Reason: fmt.Sprintf("namespace %s has %d OperatorGroups", f.namespace.Name, len(groups)), Advice: "delete all but one"}
	}
	group := f.group()
	if group == nil {
		return nil
	}
	m := tenancy.Foresee(csv, group, f.rivals)
	switch {
	case m == nil:
		return nil
	case m.Fails:
		return &Misfit{Reason: m.Reason, Fails: true}
	}
	return &Misfit{Reason: fmt.Sprintf("OperatorGroup %s: %s", group.Name, m.Reason), Advice: m.Advice}
}

// group is the only OperatorGroup of the namespace, with its targets; nil where there is no such, or these are not known.
func (f fitting) group() *operatorsv1.OperatorGroup {
	if len(f.namespace.Groups) != 1 {
		return nil
	}
	group := f.namespace.Groups[0].DeepCopy()
	group.Namespace = f.namespace.Name
	if group.Status.Namespaces = targetsOf(group); group.Status.Namespaces == nil {
		return nil
	}
	return group
}

// targetsOf are the target namespaces of a group. In files there may be no status: then the spec says it, unless it selects by label.
func targetsOf(group *operatorsv1.OperatorGroup) []string {
	selector := group.Spec.Selector
	switch {
	case len(group.Status.Namespaces) > 0:
		return group.Status.Namespaces
	case len(group.Spec.TargetNamespaces) > 0:
		return group.Spec.TargetNamespaces
	case group.Status.IsSelected() || meta.IsStatusConditionTrue(group.Status.Conditions, "OperatorGroupInvalid"):
		return nil // it selects none now
	case selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) == 0:
		return []string{""}
	}
	return nil
}

// described is what a catalog tells of a bundle, in the metadata of its ClusterServiceVersion, or in that itself: install modes and APIs. It has no install
// modes where the catalog does not say which.
func described(x *catalog.Index, b *catalog.BundleInfo) *v1alpha1.ClusterServiceVersion {
	type told struct {
		InstallModes              []v1alpha1.InstallMode             `json:"installModes"`
		CustomResourceDefinitions v1alpha1.CustomResourceDefinitions `json:"customResourceDefinitions"` // spec.customresourcedefinitions is read, too
		APIServiceDefinitions     v1alpha1.APIServiceDefinitions     `json:"apiServiceDefinitions"`
	}
	csv := &v1alpha1.ClusterServiceVersion{}
	csv.Name = b.Name
	take := func(t told) *v1alpha1.ClusterServiceVersion {
		csv.Spec.InstallModes, csv.Spec.CustomResourceDefinitions, csv.Spec.APIServiceDefinitions = t.InstallModes, t.CustomResourceDefinitions, t.APIServiceDefinitions
		return csv
	}
	var metadata told
	if text, err := x.CSVMetadata(b); err == nil && text != nil && json.Unmarshal(text, &metadata) == nil && metadata.InstallModes != nil {
		return take(metadata)
	}
	manifests, err := x.Manifests(b)
	if err != nil {
		return csv
	}
	for _, text := range manifests {
		var whole struct {
			Kind string `json:"kind"`
			Spec told   `json:"spec"`
		}
		if json.Unmarshal(text, &whole) == nil && whole.Kind == v1alpha1.ClusterServiceVersionKind {
			return take(whole.Spec)
		}
	}
	return csv
}

// writeMisfits prints what the OperatorGroup does not fit, and the one that would.
func writeMisfits(b *page, all []Misfit) {
	for _, m := range all {
		if m.Fails {
			b.printf("\n%s would fail once it is installed:\n", m.Operator)
		} else {
			b.printf("\n%s would wait for an OperatorGroup that fits:\n", m.Operator)
		}
		b.put(indented(messages.Clean(m.Reason)))
		if m.Advice != "" {
			b.put(indented(messages.Clean(m.Advice)))
		}
	}
}
