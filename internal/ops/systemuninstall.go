package ops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/api/crds"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog/safetext"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// SystemKind is a kind of the project, and what there is of it.
type SystemKind struct {
	// Definition is the name of its CustomResourceDefinition.
	Definition string `json:"definition"`
	Kind       string `json:"kind"`
	Objects    int    `json:"objects"`
	// First are the first few of them.
	First []string `json:"first,omitempty"`

	resource metav1.PartialObjectMetadataList
}

// SystemRemoval is what goes and what stays when the manager is removed.
type SystemRemoval struct {
	Namespace string       `json:"namespace"`
	Goes      []Ref        `json:"goes"`
	Stays     []Kept       `json:"stays"`
	Kinds     []SystemKind `json:"kinds"`
	// DeleteCRDs says that the kinds go as well, with all their objects.
	DeleteCRDs bool `json:"deleteCRDs"`

	client client.Client
	// deployment is the manager; nil where it is gone already.
	deployment *appsv1.Deployment
}

// removedInOrder are the kinds of which objects are deleted while the manager runs, which takes down what belongs to them: those first that others would
// bring back. OperatorConditions go with their operators, and Operators with their kind: the manager keeps one as long as something of it is left.
var removedInOrder = [][]string{
	{"ClusterExtension", "ClusterObjectSet"}, {"ClusterCatalog"}, {"Subscription"}, {"ClusterServiceVersion"}, {"CatalogSource", "InstallPlan"}, {"OperatorGroup", "OLMConfig"},
}

// needManager are the kinds whose objects are not gone without a manager.
var needManager = []string{"ClusterExtension", "ClusterObjectSet", "ClusterServiceVersion", "ClusterCatalog"}

// UninstallSystem finds what goes and what stays when the manager is removed, and with deleteCRDs everything that its APIs have.
func UninstallSystem(ctx context.Context, c client.Client, namespace string, deleteCRDs bool) (*SystemRemoval, error) {
	r := &SystemRemoval{Namespace: namespace, DeleteCRDs: deleteCRDs, client: c}
	found, err := findSystem(ctx, c, namespace)
	if err != nil {
		return nil, err
	}
	if found != nil {
		if err := found.where(namespace, "uninstall"); err != nil {
			return nil, err
		}
		if !found.mine {
			return nil, &RefusedError{found.name(), "fairlead system has not installed it, and does not know what belongs to it", "remove it as it was installed (docs/installing.md); or let fairlead system upgrade adopt it first"}
		}
		r.deployment = found.deployment
	}
	if r.Goes, err = installedObjects(ctx, c); err != nil {
		return nil, err
	}
	if err := r.count(ctx); err != nil {
		return nil, err
	}
	if len(r.Goes) == 0 && (!deleteCRDs || len(r.Kinds) == 0) {
		return nil, &RefusedError{"the cluster", "nothing of it was installed by fairlead system", "see docs/installing.md for a manager that was installed in another way; to remove the CustomResourceDefinitions that are left: --delete-crds"}
	}
	if deleteCRDs {
		if err := r.takenDown(); err != nil {
			return nil, err
		}
	}
	return r, r.stays(ctx)
}

// count finds the kinds that the cluster has, and their objects.
func (r *SystemRemoval) count(ctx context.Context) error {
	shipped, err := crds.All()
	if err != nil {
		return err
	}
	for _, d := range shipped {
		there := &apiextensionsv1.CustomResourceDefinition{}
		if err := r.client.Get(ctx, client.ObjectKey{Name: d.Name}, there); apierrors.IsNotFound(err) {
			continue
		} else if err != nil {
			return fmt.Errorf("find the objects that there are: read CustomResourceDefinition %s: %w", d.Name, err)
		}
		k := SystemKind{Definition: d.Name, Kind: d.Spec.Names.Kind}
		version := d.Spec.Versions[slices.IndexFunc(d.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })]
		k.resource.APIVersion, k.resource.Kind = d.Spec.Group+"/"+version.Name, d.Spec.Names.ListKind
		if err := r.list(ctx, &k); err != nil {
			return err
		}
		r.Kinds = append(r.Kinds, k)
	}
	return nil
}

// shownObjects is how many objects of a kind are named.
const shownObjects = 3

// list reads which objects of a kind there are.
func (r *SystemRemoval) list(ctx context.Context, k *SystemKind) error {
	k.resource.Items = nil
	if err := r.client.List(ctx, &k.resource); err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
		return fmt.Errorf("list the objects of kind %s: %w", k.Kind, err)
	}
	k.resource.Items = slices.DeleteFunc(k.resource.Items, func(o metav1.PartialObjectMetadata) bool {
		_, copied := o.Labels[v1alpha1.CopiedFromLabel] // the manager deletes those with what they are copies of
		return copied
	})
	k.Objects, k.First = len(k.resource.Items), nil
	for i := range k.resource.Items[:min(k.Objects, shownObjects)] {
		k.First = append(k.First, strings.TrimPrefix(client.ObjectKeyFromObject(&k.resource.Items[i]).String(), "/"))
	}
	return nil
}

// takenDown refuses to delete objects that stay half deleted, because no manager runs.
func (r *SystemRemoval) takenDown() error {
	if r.deployment != nil && r.deployment.Status.AvailableReplicas > 0 {
		return nil
	}
	for _, k := range r.Kinds {
		if k.Objects > 0 && slices.Contains(needManager, k.Kind) {
			return &RefusedError{"the cluster", fmt.Sprintf("it has %s, and no manager runs that takes down what belongs to them, so that they would stay half deleted", safetext.Count(k.Objects, k.Kind)),
				"have the manager run first (fairlead system install, fairlead doctor); or leave --delete-crds away"}
		}
	}
	return nil
}

// stays lists what is left, and why.
func (r *SystemRemoval) stays(ctx context.Context) error {
	for _, name := range []string{r.Namespace, "operators"} {
		var namespace corev1.Namespace
		if err := r.client.Get(ctx, client.ObjectKey{Name: name}, &namespace); err == nil {
			r.Stays = append(r.Stays, Kept{Ref{APIVersion: "v1", Kind: "Namespace", Name: name}, "others may have objects in it; when it is of no use any more: kubectl delete namespace " + name})
		} else if !apierrors.IsNotFound(err) {
			return fmt.Errorf("read Namespace %s: %w", name, err)
		}
	}
	if r.DeleteCRDs {
		return nil
	}
	for _, k := range r.Kinds {
		why := "with it would go all objects of its kind, of which there are none; --delete-crds removes it"
		if k.Objects > 0 {
			why = fmt.Sprintf("with it would go %s: %s; --delete-crds removes it", safetext.Count(k.Objects, k.Kind), safetext.Sample(k.First, k.Objects, ", "))
		}
		r.Stays = append(r.Stays, Kept{Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: k.Definition}, why})
	}
	return nil
}

// Write prints what goes and what stays.
func (r *SystemRemoval) Write(w io.Writer) error {
	var b strings.Builder
	if r.DeleteCRDs {
		b.WriteString("Goes first, while the manager runs, with all that belongs to it:\n")
		for _, k := range r.Kinds {
			if k.Objects > 0 {
				fmt.Fprintf(&b, "  %s: %s\n", safetext.Count(k.Objects, k.Kind), safetext.Sample(k.First, k.Objects, ", "))
			}
		}
		b.WriteString("  With ClusterExtensions go the CustomResourceDefinitions of their operators, and all custom resources of these.\n\n")
	}
	b.WriteString("Goes:\n")
	for _, ref := range r.Goes {
		fmt.Fprintf(&b, "  %s %s\n", ref.Kind, strings.TrimPrefix(ref.Namespace+"/"+ref.Name, "/"))
	}
	if r.DeleteCRDs {
		for _, k := range r.Kinds {
			fmt.Fprintf(&b, "  CustomResourceDefinition %s\n", k.Definition)
		}
	}
	b.WriteString("\nStays:\n")
	for _, kept := range r.Stays {
		fmt.Fprintf(&b, "  %s %s: %s\n", kept.Kind, kept.Name, kept.Why)
	}
	if !r.DeleteCRDs {
		b.WriteString("  Operators run on: their Deployments, rights and webhooks need no manager. Do not delete a ClusterServiceVersion without one: it stays half deleted.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Run removes it all. done is called with each thing that is done, and waiting with what is waited for.
func (r *SystemRemoval) Run(ctx context.Context, done, waiting func(string)) error {
	if r.DeleteCRDs {
		if err := r.deleteObjects(ctx, done, waiting); err != nil {
			return err
		}
	}
	if err := r.stop(ctx, done, waiting); err != nil {
		return err
	}
	for _, ref := range r.Goes {
		if err := client.IgnoreNotFound(r.client.Delete(ctx, ref.Object(), client.PropagationPolicy(metav1.DeletePropagationBackground))); err != nil {
			return fmt.Errorf("delete %s %s: %w", ref.Kind, ref.Name, err)
		}
	}
	done(safetext.Count(len(r.Goes), "object") + " of the manager deleted")
	if err := r.ownWork(ctx); err != nil {
		return err
	}
	if !r.DeleteCRDs {
		return nil
	}
	// A manager that is stopped right after its OperatorGroups are deleted may not have come to their ClusterRoles, which nothing else removes.
	err := r.client.DeleteAllOf(ctx, &rbacv1.ClusterRole{}, client.MatchingLabels{v1alpha1.ManagedLabel: v1alpha1.ManagedLabelValue, v1alpha1.OwnerKindLabel: "OperatorGroup"})
	if err != nil {
		return fmt.Errorf("delete the ClusterRoles of OperatorGroups: %w", err)
	}
	for _, k := range r.Kinds {
		if err := client.IgnoreNotFound(r.client.Delete(ctx, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: k.Definition}})); err != nil {
			return fmt.Errorf("delete CustomResourceDefinition %s: %w", k.Definition, err)
		}
	}
	for _, k := range r.Kinds {
		definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: k.Definition}}
		if err := r.untilGone(ctx, "CustomResourceDefinition "+k.Definition, waiting, func() (bool, error) {
			err := r.client.Get(ctx, client.ObjectKeyFromObject(definition), definition)
			return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
		}); err != nil {
			return err
		}
	}
	done(safetext.Count(len(r.Kinds), "CustomResourceDefinition") + " deleted")
	return nil
}

// deleteObjects deletes the objects of all kinds, kind by kind, while the manager runs.
func (r *SystemRemoval) deleteObjects(ctx context.Context, done, waiting func(string)) error {
	for _, kinds := range removedInOrder {
		for i := range r.Kinds {
			k := &r.Kinds[i]
			if !slices.Contains(kinds, k.Kind) {
				continue
			}
			if err := r.list(ctx, k); err != nil {
				return err
			}
			count := k.Objects
			for j := range k.resource.Items {
				object := &k.resource.Items[j]
				object.APIVersion, object.Kind = k.resource.APIVersion, k.Kind
				if err := client.IgnoreNotFound(r.client.Delete(ctx, object)); err != nil {
					return fmt.Errorf("delete %s %s: %w", k.Kind, client.ObjectKeyFromObject(object), err)
				}
			}
			if err := r.untilGone(ctx, safetext.Count(count, k.Kind), waiting, func() (bool, error) {
				err := r.list(ctx, k)
				return k.Objects == 0, err
			}); err != nil {
				return err
			}
			if count > 0 {
				done(safetext.Count(count, k.Kind) + " deleted")
			}
		}
	}
	return nil
}

// stop scales the manager down, so that it ends in an orderly way and takes its APIService along, which without a server would keep every namespace from
// being deleted.
func (r *SystemRemoval) stop(ctx context.Context, done, waiting func(string)) error {
	if r.deployment == nil {
		return nil
	}
	before := r.deployment.DeepCopy()
	none := int32(0)
	r.deployment.Spec.Replicas = &none
	name := "Deployment " + client.ObjectKeyFromObject(before).String()
	if err := client.IgnoreNotFound(r.client.Patch(ctx, r.deployment, client.MergeFrom(before))); err != nil {
		return fmt.Errorf("scale %s to 0: %w", name, err)
	}
	err := r.untilGone(ctx, "the pods of "+name, waiting, func() (bool, error) {
		var pods corev1.PodList
		err := r.client.List(ctx, &pods, client.InNamespace(r.Namespace), client.MatchingLabels{"app": managerName})
		return len(pods.Items) == 0, err
	})
	if err == nil {
		done("the manager has stopped")
	}
	return err
}

// ownWork removes what the manager has made for itself, and left where it was not ended in an orderly way.
func (r *SystemRemoval) ownWork(ctx context.Context) error {
	service := &apiregistrationv1.APIService{}
	switch err := r.client.Get(ctx, client.ObjectKey{Name: "v1.packages.operators.coreos.com"}, service); {
	case err == nil && service.Spec.Service != nil && service.Spec.Service.Namespace == r.Namespace:
		if err := client.IgnoreNotFound(r.client.Delete(ctx, service)); err != nil {
			return fmt.Errorf("delete APIService %s, which no manager serves any more: %w", service.Name, err)
		}
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("find out whether the APIService of PackageManifests is left: %w", err)
	}
	for kind, o := range map[string]client.Object{
		"ClusterRole": &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "fairlead-packagemanifests-view"}},
		"Lease":       &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: managerName}},
	} {
		if err := client.IgnoreNotFound(r.client.Delete(ctx, o)); err != nil {
			return fmt.Errorf("delete %s %s of the manager: %w", kind, o.GetName(), err)
		}
	}
	return nil
}

// untilGone waits for something to be gone.
func (r *SystemRemoval) untilGone(ctx context.Context, what string, waiting func(string), gone func() (bool, error)) error {
	for {
		is, err := gone()
		if is && err == nil {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("wait until %s is gone: %w", what, err)
		}
		waiting(what + " to be gone")
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until %s is gone: %w; the status of what is left, and the log of the manager, say what holds it up", what, errors.Join(ctx.Err(), err))
		case <-time.After(systemPoll):
		}
	}
}
