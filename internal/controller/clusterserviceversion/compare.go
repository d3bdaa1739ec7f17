package clusterserviceversion

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// change is an object to be applied, to be removed, or, where both are given, to be replaced.
type change struct {
	apply, remove client.Object
	// byManager is whether the manager makes it with its own rights even where installs are limited to those of a service
	// account: it takes permissions in target namespaces away, and gives only those that the account may give.
	byManager bool
	// unseen is whether the object may be somebody else's for all that the cache knows: it is not there, or not with the labels of the CSV.
	unseen bool
	// missing is whether the cluster itself, and not only the cache, has no such object: one made in between is not overwritten.
	missing bool
}

func (c change) String() string {
	if c.apply == nil {
		return fmt.Sprintf("%s %s is no longer wanted", kindOf(c.remove), client.ObjectKeyFromObject(c.remove))
	}
	return fmt.Sprintf("%s %s is not as the install strategy asks for", kindOf(c.apply), client.ObjectKeyFromObject(c.apply))
}

// compare lists what is to be done so that the cluster has the objects with all the fields that are wanted. Other
// fields are not looked at.
func (c *Controller) compare(ctx context.Context, wanted []client.Object) ([]change, error) {
	var out []change
	for _, object := range wanted {
		live := emptyLike(object)
		err := c.readerFor(object.GetNamespace()).Get(ctx, client.ObjectKeyFromObject(object), live, client.UnsafeDisableDeepCopy)
		if apierrors.IsNotFound(err) {
			out = append(out, change{apply: object, unseen: true})
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s %s: %w", kindOf(object), client.ObjectKeyFromObject(object), err)
		}
		same, err := contains(live, object)
		if err != nil {
			return nil, err
		}
		switch {
		case refersElsewhere(live, object):
			out = append(out, change{apply: object, remove: live, unseen: ofAnother(live, object)})
		case !same:
			out = append(out, change{apply: object, unseen: ofAnother(live, object)})
		}
	}
	return out, nil
}

// ofAnother says whether a live object lacks what tells that it is the wanted one, and nobody else's of the same name.
func ofAnother(live, wanted client.Object) bool {
	is, _ := ownerOf(live)
	should, _ := ownerOf(wanted)
	return live.GetLabels()[v1alpha1.ManagedLabel] != v1alpha1.ManagedLabelValue || is != should
}

// refersElsewhere says whether a binding is to another role than wanted, which cannot be changed in place.
func refersElsewhere(live, wanted client.Object) bool {
	switch w := wanted.(type) {
	case *rbacv1.RoleBinding:
		return live.(*rbacv1.RoleBinding).RoleRef != w.RoleRef
	case *rbacv1.ClusterRoleBinding:
		return live.(*rbacv1.ClusterRoleBinding).RoleRef != w.RoleRef
	}
	return false
}

// readerFor reads from the cache where the manager watches the namespace, else from the cluster.
func (c *Controller) readerFor(namespace string) client.Reader {
	if namespace == "" || c.watches(namespace) {
		return c.client
	}
	return c.live
}

// contains says whether the live object has all the fields of the wanted one.
func contains(live, wanted client.Object) (bool, error) {
	if !metadataContains(live, wanted) {
		return false, nil
	}
	switch w := wanted.(type) {
	case *rbacv1.Role:
		return equality.Semantic.DeepEqual(live.(*rbacv1.Role).Rules, w.Rules), nil
	case *rbacv1.ClusterRole:
		return equality.Semantic.DeepEqual(live.(*rbacv1.ClusterRole).Rules, w.Rules), nil
	case *rbacv1.RoleBinding:
		l := live.(*rbacv1.RoleBinding)
		return l.RoleRef == w.RoleRef && equality.Semantic.DeepEqual(l.Subjects, w.Subjects), nil
	case *rbacv1.ClusterRoleBinding:
		l := live.(*rbacv1.ClusterRoleBinding)
		return l.RoleRef == w.RoleRef && equality.Semantic.DeepEqual(l.Subjects, w.Subjects), nil
	}
	have, err := content(live)
	if err != nil {
		return false, err
	}
	want, err := content(wanted)
	if err != nil {
		return false, err
	}
	return includes(have, want), nil
}

// content is everything of an object but its type, metadata and status.
func content(object client.Object) (map[string]any, error) {
	out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("compare %s %s: %w", kindOf(object), client.ObjectKeyFromObject(object), err)
	}
	for _, name := range []string{"apiVersion", "kind", "metadata", "status"} {
		delete(out, name)
	}
	return out, nil
}

func metadataContains(live, wanted metav1.Object) bool {
	for _, pair := range [][2]map[string]string{{live.GetLabels(), wanted.GetLabels()}, {live.GetAnnotations(), wanted.GetAnnotations()}} {
		for name, value := range pair[1] {
			if have, ok := pair[0][name]; !ok || have != value {
				return false
			}
		}
	}
	for _, owner := range wanted.GetOwnerReferences() {
		if !hasOwner(live, owner.UID) {
			return false
		}
	}
	return true
}
