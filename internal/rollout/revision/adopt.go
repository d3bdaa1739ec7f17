package revision

import (
	"context"
	"fmt"
	"slices"
	"sync"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/crd"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// AdoptKey is the annotation of a ClusterExtension that, set to "true", lets its revisions adopt objects that exist and have no owner.
const AdoptKey = prefix + "adopt-existing"

// Adopts reports whether an extension adopts objects without owner.
func Adopts(ext metav1.Object) bool { return ext.GetAnnotations()[AdoptKey] == "true" }

// Protection is the collisionProtection of the next revision of an extension.
func Protection(ext metav1.Object) olmv1.CollisionProtection {
	if Adopts(ext) {
		return olmv1.CollisionProtectionIfNoController
	}
	return olmv1.CollisionProtectionPrevent
}

// Claims judges the claims of a revision by what the cluster has: some owners are no controllers, or are not named by the object at all. It reads, and
// writes nothing. It reads the ClusterServiceVersions once, so it is for one pass over the objects of a revision.
type Claims struct {
	// Reader must not be a cache.
	Reader client.Reader
	// Count counts custom resources; nil asks the Reader.
	Count Count
	Set   *olmv1.ClusterObjectSet
	// Siblings are the other revisions of its extension.
	Siblings map[types.UID]*olmv1.ClusterObjectSet
	// Planned is the extension of a set that is not in the cluster; nil looks it up. One without UID is not in the cluster either.
	Planned *olmv1.ClusterExtension

	mu   sync.Mutex
	csvs []v1alpha1.ClusterServiceVersion
	read bool
}

// Judge is Claim, but for an object without controller that has another owner: a revision of an extension adopts none, and where it may adopt nothing
// at all, the owner is named. Where that cannot be read the object is refused, with the error.
func (c *Claims) Judge(ctx context.Context, protection olmv1.CollisionProtection, live client.Object) (rollout.Ownership, error) {
	verdict := Claim(c.Set, c.Siblings, protection, live)
	if !c.othersCount(protection, live) {
		return verdict, nil
	}
	owner, err := c.other(ctx, live)
	switch {
	case err != nil:
		err = fmt.Errorf("find out whether %s %s has an owner: %w", live.GetObjectKind().GroupVersionKind().Kind, live.GetName(), err)
		return rollout.Ownership{Verdict: rollout.Refused, Reason: "exists already, and whether it has an owner is not known: " + err.Error()}, err
	case owner != nil:
		return rollout.Ownership{Verdict: rollout.Refused, Reason: "belongs to " + owner.name}, nil
	case verdict.Verdict == rollout.Refused && protection == olmv1.CollisionProtectionPrevent:
		if number := c.number(ctx, live); number != "" {
			verdict.Reason += ", and it has " + number
		}
	}
	return verdict, nil
}

// othersCount reports whether owners that are no controllers of an object count. What a set of a user says of objects without controller is taken at its
// word, and so is what a migration says of single ones. What was kept for an extension may have got another owner since.
func (c *Claims) othersCount(protection olmv1.CollisionProtection, live metav1.Object) bool {
	name, _ := ExtensionOf(c.Set)
	adopting := name != "" && protection == olmv1.CollisionProtectionIfNoController && c.Set.Spec.CollisionProtection == protection
	return metav1.GetControllerOfNoCopy(live) == nil && (adopting || protection == olmv1.CollisionProtectionPrevent)
}

// Remedy says what to do about an object that Judge refuses.
func (c *Claims) Remedy(ctx context.Context, live client.Object) string {
	if controller := metav1.GetControllerOfNoCopy(live); controller != nil {
		return c.giveUp(ctx, *controller)
	}
	owner, err := c.other(ctx, live)
	name, _ := ExtensionOf(c.Set)
	switch {
	case err != nil:
		return "let that be read; it is tried again by itself"
	case owner != nil:
		return owner.remedy
	case name == "":
		return "to adopt it, make a ClusterObjectSet with collisionProtection: IfNoController for it"
	case c.Set.Spec.CollisionProtection != olmv1.CollisionProtectionPrevent: // it may, and refuses what another client has released from this very revision
		return fmt.Sprintf("to let ClusterExtension %s have it again, remove annotation %s from it", name, NumberKey)
	}
	return c.offer(ctx, name)
}

// offer is how objects without owner are adopted.
func (c *Claims) offer(ctx context.Context, name string) string {
	const what = "to adopt what exists and has no owner, which overwrites the fields that the bundle sets, keeps custom resources, and deletes the rest with the ClusterExtension: "
	ext := c.Planned
	if ext == nil {
		ext = &olmv1.ClusterExtension{}
		if err := c.Reader.Get(ctx, client.ObjectKey{Name: name}, ext); err != nil || ext.Spec.Source.Catalog == nil {
			return fmt.Sprintf(what+"kubectl annotate clusterextension %s %s=true", name, AdoptKey)
		}
	}
	if ext.UID == "" { // another one must not be created in its place
		return fmt.Sprintf(what+"set annotation %s: \"true\" of ClusterExtension %s where it is written", AdoptKey, name)
	}
	pkg := ext.Spec.Source.Catalog.PackageName
	command := "fairlead install " + pkg + " --api v1"
	if name != pkg {
		command += " --name " + name
	}
	command += " --namespace " + ext.Spec.Namespace
	return fmt.Sprintf(what+"%s --adopt, which sets annotation %s: \"true\" of ClusterExtension %s", command, AdoptKey, name)
}

// number is how many custom resources a CustomResourceDefinition has; empty for other objects.
func (c *Claims) number(ctx context.Context, live client.Object) string {
	if live.GetObjectKind().GroupVersionKind().GroupKind() != definitionKind {
		return ""
	}
	definition, err := crd.Live(ctx, c.Reader, live.GetName())
	if err != nil || definition == nil {
		return ""
	}
	return crd.Number(ctx, c.Reader, c.Count, definition)
}

// giveUp is what has to happen for a controller to give an object up. The set that is a controller need not be there any more.
func (c *Claims) giveUp(ctx context.Context, controller metav1.OwnerReference) string {
	extension := ""
	switch {
	case IsExtension(controller):
		extension = controller.Name
	case IsRevision(controller):
		set := &olmv1.ClusterObjectSet{}
		if err := c.Reader.Get(ctx, client.ObjectKey{Name: controller.Name}, set); err == nil && set.UID == controller.UID {
			extension, _ = ExtensionOf(set)
		}
	}
	mine, _ := ExtensionOf(c.Set)
	if extension == "" || extension == mine {
		return fmt.Sprintf("an object has one owner: let %s %s give it up, or do not install what wants it", controller.Kind, controller.Name)
	}
	return fmt.Sprintf("it belongs to ClusterExtension %s, and stays with it; to have the other one in its place, first: fairlead uninstall %[1]s, which keeps custom resources", extension)
}

// other is the owner of an object without controller; nil when it has none. Names that no object has any more count for nothing.
func (c *Claims) other(ctx context.Context, live client.Object) (*other, error) {
	owner, err := c.operator(ctx, live)
	if owner != nil || err != nil {
		return owner, err
	}
	_, extension := ExtensionOf(c.Set)
	for _, r := range live.GetOwnerReferences() {
		if r.UID != extension && r.UID != c.Set.UID && c.Siblings[r.UID] == nil {
			return &other{r.Kind + " " + r.Name, c.giveUp(ctx, r)}, nil
		}
	}
	return delivered(live), nil
}

// operator is the ClusterServiceVersion that has an object: that says that it owns the definition, or that references or labels of the object name.
func (c *Claims) operator(ctx context.Context, live client.Object) (*other, error) {
	defines := live.GetObjectKind().GroupVersionKind().GroupKind() == definitionKind
	var named []rollout.Holder
	for _, h := range rollout.Holders(live) {
		if h.IsOperator() {
			named = append(named, h)
		}
	}
	if !defines && len(named) == 0 {
		return nil, nil
	}
	all, err := c.operators(ctx)
	if err != nil {
		return nil, err
	}
	for i := range all {
		csv := &all[i]
		has := defines && csv.OwnsCRD(live.GetName()) ||
			slices.ContainsFunc(named, func(h rollout.Holder) bool { return h.Name == csv.Name && h.Namespace == csv.Namespace })
		if has {
			return &other{fmt.Sprintf("ClusterServiceVersion %s/%s", csv.Namespace, csv.Name), c.migrate(ctx, csv)}, nil
		}
	}
	return nil, nil
}

// operators are the ClusterServiceVersions of the cluster, without copies.
func (c *Claims) operators(ctx context.Context) ([]v1alpha1.ClusterServiceVersion, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read {
		return c.csvs, nil
	}
	originals, err := labels.NewRequirement(v1alpha1.CopiedFromLabel, selection.DoesNotExist, nil)
	if err != nil {
		return nil, err
	}
	var all v1alpha1.ClusterServiceVersionList
	err = c.Reader.List(ctx, &all, client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*originals)})
	if err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) { // a cluster without that API has none
		return nil, fmt.Errorf("list the ClusterServiceVersions: %w", err)
	}
	c.csvs, c.read = slices.DeleteFunc(all.Items, func(csv v1alpha1.ClusterServiceVersion) bool { return csv.IsCopied() }), true
	return c.csvs, nil
}

// migrate is how the operator of a ClusterServiceVersion becomes a ClusterExtension.
func (c *Claims) migrate(ctx context.Context, csv *v1alpha1.ClusterServiceVersion) string {
	first := ""
	if name, _ := ExtensionOf(c.Set); name != "" && c.Planned == nil && c.Set.Spec.Revision == 1 {
		first = fmt.Sprintf("fairlead uninstall %s, then: ", name)
	}
	var subs v1alpha1.SubscriptionList
	if err := c.Reader.List(ctx, &subs, client.InNamespace(csv.Namespace)); err == nil {
		for i := range subs.Items {
			if subs.Items[i].Status.InstalledCSV == csv.Name {
				return fmt.Sprintf("to make a ClusterExtension of that operator in place: %sfairlead migrate %s --namespace %s", first, subs.Items[i].Name, csv.Namespace)
			}
		}
	}
	if csv.Spec.Cleanup.Enabled {
		return fmt.Sprintf("no Subscription has installed that, so nothing can migrate it; removing it deletes its custom resources, as its spec.cleanup.enabled asks for: to keep them, "+
			"set that to false first, and then: kubectl delete csv %s --namespace %s", csv.Name, csv.Namespace)
	}
	return fmt.Sprintf("no Subscription has installed that, so nothing can migrate it; to remove it, and keep custom resources: kubectl delete csv %s --namespace %s", csv.Name, csv.Namespace)
}
