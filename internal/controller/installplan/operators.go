package installplan

import (
	"context"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/tenancy"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// operator is what is needed of a ClusterServiceVersion.
type operator struct {
	namespace, name, replaces string
	skips                     []string
	version                   v1alpha1.OperatorVersion
	leaving                   bool   // it is being deleted
	hasRun                    bool   // it runs, or has run
	pkg                       string // empty where it does not say
	crds                      []crdUse
	converts                  []string // CRDs, by webhook
}

// operators are the ClusterServiceVersions that exist, but for copies, in all namespaces that the manager can see.
type operators []operator

func (c *Controller) operators(ctx context.Context) (operators, error) {
	var list v1alpha1.ClusterServiceVersionList
	// The objects are only read: copying them all, descriptions and icons included, would cost more than the plan.
	if err := c.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the ClusterServiceVersions: %w", err)
	}
	var all operators
	for i := range list.Items {
		if csv := &list.Items[i]; !csv.IsCopied() {
			all = append(all, operatorOf(csv))
		}
	}
	return all, nil
}

func operatorOf(csv *v1alpha1.ClusterServiceVersion) operator {
	return operator{
		namespace: csv.Namespace, name: csv.Name, replaces: csv.Spec.Replaces, skips: csv.Spec.Skips, version: csv.Spec.Version,
		leaving: !csv.DeletionTimestamp.IsZero(), hasRun: tenancy.HasRun(csv), pkg: bundle.PackageOf(csv), crds: crdUses(csv), converts: convertedBy(csv),
	}
}

func (all operators) find(namespace, name string) (operator, bool) {
	i := slices.IndexFunc(all, func(o operator) bool { return o.namespace == namespace && o.name == name })
	if i < 0 {
		return operator{}, false
	}
	return all[i], true
}

// line returns the names of an operator that is to be installed, of those that it replaces, directly or not, and of those that are
// there already and replace it: what any of them owns is in the family.
func (all operators) line(o operator) map[string]bool {
	line := all.before(o)
	line[o.name] = true
	for grown := true; grown; {
		grown = false
		for _, there := range all {
			if there.namespace == o.namespace && line[there.replaces] && !line[there.name] {
				line[there.name], grown = true, true
			}
		}
	}
	return line
}

// before returns the names of those that an operator replaces, directly or not.
func (all operators) before(o operator) map[string]bool {
	before := map[string]bool{}
	for next := o.replaces; next != "" && next != o.name && !before[next]; {
		before[next] = true
		there, _ := all.find(o.namespace, next)
		next = there.replaces
	}
	return before
}
