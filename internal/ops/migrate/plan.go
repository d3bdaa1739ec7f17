package migrate

import (
	"fmt"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Adopted is an object that is adopted.
type Adopted struct {
	Ref
	// Changes are the fields that become as the bundle has them at once.
	Changes []string `json:"changes,omitempty"`
	// Later are the fields that stay as they were found, and become as the bundle has them with the next revision.
	Later []string `json:"later,omitempty"`
}

// Plan is what would be done.
type Plan struct {
	Subscription string `json:"subscription"`
	CSV          string `json:"clusterServiceVersion"`
	// Extension is the ClusterExtension that is made.
	Extension *olmv1.ClusterExtension `json:"clusterExtension"`
	Bundle    string                  `json:"bundle,omitempty"`
	// BackupSecret holds what there was before.
	BackupSecret string    `json:"backupSecret"`
	Adopted      []Adopted `json:"adopted,omitempty"`
	Added        []Ref     `json:"added,omitempty"`
	Removed      []Ref     `json:"removed,omitempty"`
	// Left belongs to the ClusterServiceVersion and not to the bundle: it stays, and belongs to no one.
	Left  []Ref    `json:"left,omitempty"`
	Notes []string `json:"notes,omitempty"`
	// Refused is why it cannot be done; empty when it can.
	Refused []string `json:"refused,omitempty"`
}

// Seen is what the cluster has of an install.
type Seen struct {
	// Wanted are the objects of the bundle, as the v1 API has them.
	Wanted []*unstructured.Unstructured
	// Live are those of them that are there.
	Live map[Ref]*unstructured.Unstructured
	// Owned is what belongs to the Subscription and the ClusterServiceVersion.
	Owned []*unstructured.Unstructured
}

// Decide says what becomes of each object, and what to keep for the way back.
func (in *Install) Decide(e *olmv1.ClusterExtension, s Seen) (*Plan, *Backup) {
	p := &Plan{Subscription: in.Subscription.Namespace + "/" + in.Subscription.Name, CSV: in.Names().String(), Extension: e, Refused: in.Refusals()}
	b := &Backup{CSV: in.Names(), Extension: e}
	owner := OwnerOf(in.CSV, in.Others)
	for _, wanted := range s.Wanted {
		live := s.Live[RefOf(wanted)]
		as, err := Adopt(owner, wanted, live)
		switch {
		case err != nil:
			p.Refused = append(p.Refused, err.Error())
		case live == nil:
			p.Added, b.Added = append(p.Added, RefOf(wanted)), append(b.Added, RefOf(wanted))
		default:
			a := Adopted{Ref: RefOf(wanted), Changes: Differences(as, live)}
			if KeptAsFound(wanted) {
				a.Later = Differences(wanted, live)
			}
			p.Adopted = append(p.Adopted, a)
			b.Adopted = append(b.Adopted, Keep(live, KeptAsFound(wanted)))
		}
	}
	for _, u := range s.Owned {
		if s.Live[RefOf(u)] == nil { // else it is adopted
			in.part(owner, u, len(s.Wanted) > 0, p, b)
		}
	}
	// What should be known.
	name := p.Extension.Name
	follow := "its channels"
	if in.Subscription.Spec.Channel != "" {
		follow = "channel " + in.Subscription.Spec.Channel
	}
	p.Notes = append(p.Notes, fmt.Sprintf("ClusterExtension %[1]s stays at version %s; to let it follow %s: fairlead upgrade %[1]s --version ''",
		name, in.CSV.Spec.Version.String(), follow))
	if in.Subscription.Spec.InstallPlanApproval == v1alpha1.ApprovalManual {
		p.Notes = append(p.Notes, "the Subscription asks for Manual approval: with a ClusterExtension, the version that is asked for is what you approve")
	}
	for i := range in.Plans {
		if plan := &in.Plans[i]; plan.Status.Phase == v1alpha1.InstallPlanPhaseRequiresApproval && ownedBy(plan, in.Subscription) {
			p.Notes = append(p.Notes, fmt.Sprintf("InstallPlan %s, which waits for approval, goes: %s", plan.Name, strings.Join(plan.Spec.ClusterServiceVersionNames, ", ")))
		}
	}
	if in.CSV.Spec.Cleanup.Enabled {
		p.Notes = append(p.Notes, "spec.cleanup of the ClusterServiceVersion is switched off first, so that no custom resource is deleted")
	}
	if slices.ContainsFunc(p.Adopted, func(a Adopted) bool { return len(a.Later) > 0 }) {
		p.Notes = append(p.Notes, "Deployments stay as they were found, so that no pod is restarted; the fields that are listed become as the bundle has them with the next revision")
	}
	return p, b
}

// part decides about what belongs to the ClusterServiceVersion and is not of the bundle. Only what the controllers of the v0 API have made
// goes: operators make objects of their own, which refer to the ClusterServiceVersion so that they go with it, and need them later, too.
// Where no bundle is known, because none can be had, nothing is missing of it.
func (in *Install) part(owner Owner, u *unstructured.Unstructured, known bool, p *Plan, b *Backup) {
	ref := RefOf(u)
	switch kind := ref.Kind; {
	case kind == v1alpha1.SubscriptionKind:
		b.Subscription = Keep(u, true)
	case kind == v1alpha1.ClusterServiceVersionKind:
		b.Version = Keep(u, true)
	case kind == v1alpha1.InstallPlanKind:
		b.Plans = append(b.Plans, Keep(u, true))
	case kind == "OperatorCondition" && ref.Name == in.CSV.Name:
		p.Adopted = append(p.Adopted, Adopted{Ref: ref})
		b.Adopted = append(b.Adopted, Keep(u, true))
		return
	case !known && in.hasInstalled(ref, owner.labelled(u)):
		return
	case in.hasInstalled(ref, owner.labelled(u)):
		p.Refused = append(p.Refused, fmt.Sprintf("%s is of ClusterServiceVersion %s, and the bundle of the catalog does not have it: the catalog has another bundle of that name; "+
			"add a ClusterCatalog of the catalog that it was installed from", ref, in.Names()))
		return
	case kind == "Operator", slices.Contains(roleKinds, kind) && owner.labelled(u):
		b.Removed = append(b.Removed, Keep(u, true))
	default:
		p.Left, b.Left = append(p.Left, ref), append(b.Left, Keep(u, false))
		return
	}
	p.Removed = append(p.Removed, ref)
}

// roleKinds are kinds that the controllers make of the permissions in a ClusterServiceVersion, each with the labels of its owner.
var roleKinds = []string{"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}

// hasInstalled tells whether an object is a Deployment or a ServiceAccount that the ClusterServiceVersion asks for. Accounts have no labels of
// their owner.
func (in *Install) hasInstalled(ref Ref, labelled bool) bool {
	strategy := in.CSV.Spec.InstallStrategy.StrategySpec
	switch ref.Kind {
	case "Deployment":
		return labelled || slices.ContainsFunc(strategy.DeploymentSpecs, func(d v1alpha1.StrategyDeploymentSpec) bool { return d.Name == ref.Name })
	case "ServiceAccount":
		return slices.ContainsFunc(slices.Concat(strategy.Permissions, strategy.ClusterPermissions), func(p v1alpha1.StrategyDeploymentPermissions) bool {
			return p.ServiceAccountName == ref.Name
		})
	}
	return false
}
