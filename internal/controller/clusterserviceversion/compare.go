package clusterserviceversion

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"
)

// change is an object to be applied or to be removed.
type change struct {
	apply, remove client.Object
	// byManager is whether the manager makes it with its own rights even where installs are limited to those of a service
	// account: it takes permissions in target namespaces away.
	byManager bool
	// unseen is whether the object may belong to another owner for all that the cache shows: it is not there, or not with the labels of the CSV.
	unseen bool
	// absent is whether there is none, as far as a cache of all objects of the kind shows.
	absent bool
}

func (c change) String() string {
	if c.apply == nil {
		return fmt.Sprintf("%s %s is no longer wanted", kindOf(c.remove), client.ObjectKeyFromObject(c.remove))
	}
	return fmt.Sprintf("%s %s is not as the install strategy asks for", kindOf(c.apply), client.ObjectKeyFromObject(c.apply))
}

// compare lists the objects that an apply would change.
func (c *Controller) compare(ctx context.Context, wanted []client.Object) ([]change, error) {
	var out []change
	for _, object := range wanted {
		live := emptyLike(object)
		err := c.readerFor(object.GetNamespace()).Get(ctx, client.ObjectKeyFromObject(object), live, client.UnsafeDisableDeepCopy)
		if apierrors.IsNotFound(err) {
			out = append(out, change{apply: object, unseen: true, absent: !isFiltered(object)})
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s %s: %w", kindOf(object), client.ObjectKeyFromObject(object), err)
		}
		changed, err := isDrifted(object, live)
		if err != nil {
			return nil, err
		}
		if changed {
			out = append(out, change{apply: object, unseen: ofAnother(live, object)})
		}
	}
	return out, nil
}

// isFiltered reports whether the cache holds only those objects of a kind that have the label of what is managed.
func isFiltered(object client.Object) bool {
	switch object.(type) {
	case *appsv1.Deployment, *corev1.Service, *corev1.Secret:
		return true
	}
	return false
}

// isDrifted reports whether an apply would change a live object. Fields that other clients have added make no difference.
func isDrifted(desired, live client.Object) (bool, error) {
	want, err := rollout.Render(desired)
	if err != nil {
		return false, err
	}
	have, err := rollout.Render(live)
	if err != nil {
		return false, err
	}
	return rollout.Drifted(want, have, string(fieldManager)), nil
}

// ofAnother says whether a live object lacks what tells that it is the wanted one, and nobody else's of the same name.
func ofAnother(live, wanted client.Object) bool {
	is, _ := ownerOf(live)
	should, _ := ownerOf(wanted)
	return live.GetLabels()[v1alpha1.ManagedLabel] != v1alpha1.ManagedLabelValue || is != should
}

// readerFor reads from the cache where the manager watches the namespace, else from the cluster.
func (c *Controller) readerFor(namespace string) client.Reader {
	if namespace == "" || c.watches(namespace) {
		return c.client
	}
	return c.live
}

// grantsSame reports whether a live role or binding has the owner and grants what the desired one grants.
func grantsSame(live, desired client.Object) bool {
	is, _ := ownerOf(live)
	should, _ := ownerOf(desired)
	if is != should {
		return false
	}
	same := equality.Semantic.DeepEqual
	switch d := desired.(type) {
	case *rbacv1.Role:
		return same(live.(*rbacv1.Role).Rules, d.Rules)
	case *rbacv1.ClusterRole:
		return same(live.(*rbacv1.ClusterRole).Rules, d.Rules)
	case *rbacv1.RoleBinding:
		l := live.(*rbacv1.RoleBinding)
		return l.RoleRef == d.RoleRef && same(l.Subjects, d.Subjects)
	case *rbacv1.ClusterRoleBinding:
		l := live.(*rbacv1.ClusterRoleBinding)
		return l.RoleRef == d.RoleRef && same(l.Subjects, d.Subjects)
	}
	return false
}
