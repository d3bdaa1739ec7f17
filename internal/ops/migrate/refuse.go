package migrate

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Refusals are why an install cannot become a ClusterExtension as it is, each with what to do; none when it can. What only the bundle and
// the catalogs can tell is not among them.
func (in *Install) Refusals() []string {
	// Only what rests can be adopted.
	var out []string
	if p := in.CSV.Status.Phase; p != v1alpha1.CSVPhaseSucceeded {
		out = append(out, fmt.Sprintf("ClusterServiceVersion %s is in phase %q: it has to be Succeeded", in.Names(), p))
	}
	if in.CSV.DeletionTimestamp != nil {
		out = append(out, fmt.Sprintf("ClusterServiceVersion %s is being deleted", in.Names()))
	}
	return slices.Concat(out, in.underWay(), in.group(), in.unsupported(), in.dependencies())
}

// underWay is what changes the install at this moment.
func (in *Install) underWay() (out []string) {
	for i := range in.Others {
		if o := &in.Others[i]; in.upgrades(o) {
			out = append(out, fmt.Sprintf("an upgrade is under way: ClusterServiceVersion %s/%s is there, too; wait until one is left", o.Namespace, o.Name))
		}
	}
	for i := range in.Plans {
		p := &in.Plans[i]
		phase := p.Status.Phase // one that is being carried out, or about to be
		underWay := phase == v1alpha1.InstallPlanPhaseInstalling || p.Spec.Approved && phase != v1alpha1.InstallPlanPhaseComplete && phase != v1alpha1.InstallPlanPhaseFailed
		if underWay && ownedBy(p, in.Subscription) {
			out = append(out, fmt.Sprintf("InstallPlan %s/%s is being carried out: wait until it is complete", p.Namespace, p.Name))
		}
	}
	return out
}

// upgrades tells whether an operator is what this one becomes, or what it was.
func (in *Install) upgrades(other *v1alpha1.ClusterServiceVersion) bool {
	return other.Namespace == in.CSV.Namespace && (other.Spec.Replaces == in.CSV.Name || in.CSV.Spec.Replaces == other.Name)
}

// group: a ClusterExtension says which namespaces it watches, once and for all.
func (in *Install) group() []string {
	if len(in.Groups) != 1 {
		return []string{fmt.Sprintf("namespace %s has %d OperatorGroups: which namespaces the operator watches is known with exactly one", in.CSV.Namespace, len(in.Groups))}
	}
	var out []string
	g := &in.Groups[0]
	if g.Spec.Selector != nil && (len(g.Spec.Selector.MatchLabels) > 0 || len(g.Spec.Selector.MatchExpressions) > 0) {
		out = append(out, fmt.Sprintf("OperatorGroup %s/%s selects namespaces by label, and a ClusterExtension lists them: set spec.targetNamespaces instead of spec.selector", g.Namespace, g.Name))
	}
	if g.Spec.ServiceAccountName != "" {
		out = append(out, fmt.Sprintf("OperatorGroup %s/%s limits installs to ServiceAccount %s, whose rights are not those that a ClusterExtension with spec.serviceAccount needs: "+
			"remove spec.serviceAccountName first, and set spec.serviceAccount of the ClusterExtension afterwards", g.Namespace, g.Name, g.Spec.ServiceAccountName))
	}
	if len(g.Status.Namespaces) == 0 {
		out = append(out, fmt.Sprintf("OperatorGroup %s/%s has not said yet which namespaces it has", g.Namespace, g.Name))
	}
	return out
}

// unsupported: what is tied to the ClusterServiceVersion and could not go on without a new rollout.
func (in *Install) unsupported() (out []string) {
	if n := len(in.CSV.Spec.WebhookDefinitions); n > 0 {
		out = append(out, fmt.Sprintf("the operator has %d webhooks: their certificates are in Secrets of other names by the v1 API, which its pods would have to be restarted for; "+
			"uninstall it with fairlead uninstall, which keeps its custom resources, and reinstall it", n))
	}
	if n := len(in.CSV.Spec.APIServiceDefinitions.Owned); n > 0 {
		out = append(out, fmt.Sprintf("the operator serves %d APIs itself (spec.apiservicedefinitions.owned), whose certificates would change: uninstall it and reinstall it", n))
	}
	if c := in.Subscription.Spec.Config; c != nil && c.Selector != nil {
		out = append(out, "spec.config.selector of the Subscription has no counterpart: remove it first, which may roll the Deployments out")
	}
	return out
}

// dependencies: operators of the two APIs do not know of each other.
func (in *Install) dependencies() (out []string) {
	needs, has := in.CSV.RequiredAPIs(), in.CSV.ProvidedAPIs()
	for i := range in.Others {
		other := &in.Others[i]
		if common := sharedKinds(has, other.ProvidedAPIs()); common != "" && !in.upgrades(other) {
			out = append(out, fmt.Sprintf("ClusterServiceVersion %s/%s owns %s, too, and the ClusterExtension would take the CustomResourceDefinition from it: uninstall one of the two first, with fairlead uninstall, which keeps "+
				"custom resources", other.Namespace, other.Name, common))
		}
		if common := sharedKinds(needs, other.ProvidedAPIs()); common != "" {
			out = append(out, fmt.Sprintf("the operator needs %s of ClusterServiceVersion %s/%s: ClusterExtensions get what they need from ClusterExtensions alone; "+
				"to move both, uninstall this one with fairlead uninstall, which keeps its custom resources, migrate that one, and install this one with --api v1", common, other.Namespace, other.Name))
		}
		if common := sharedKinds(has, other.RequiredAPIs()); common != "" {
			out = append(out, fmt.Sprintf("ClusterServiceVersion %s/%s needs %s of the operator: Subscriptions get what they need from Subscriptions alone, and would install it again; "+
				"to move both, uninstall that one with fairlead uninstall, which keeps its custom resources, migrate this one, and install that one with --api v1",
				other.Namespace, other.Name, common))
		}
	}
	slices.Sort(out)
	return out
}

// sharedKinds are the kinds of the APIs that two lists have, in whatever versions, as text.
func sharedKinds(a, b []schema.GroupVersionKind) string {
	out := sets.New[string]()
	for _, k := range a {
		if slices.ContainsFunc(b, func(o schema.GroupVersionKind) bool { return o.GroupKind() == k.GroupKind() }) {
			out.Insert(k.Kind)
		}
	}
	return strings.Join(sets.List(out), ", ")
}

func ownedBy(p *v1alpha1.InstallPlan, sub *v1alpha1.Subscription) bool {
	return slices.ContainsFunc(p.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == sub.UID && r.UID != "" })
}
