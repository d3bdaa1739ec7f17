package permissions

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog/safetext"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

// objectVerbs are the requests that name an object.
var objectVerbs = []string{"get", "patch", "update", "delete"}

// resource is what requests for objects of a kind are about.
type resource struct {
	group, name string
	namespaced  bool
}

// ownObjects are those of the objects that say something about the others.
type ownObjects struct {
	resources           map[schema.GroupKind]resource
	clusterRoles        map[string]*rbacv1.ClusterRole
	roles               map[[2]string]*rbacv1.Role
	clusterRoleBindings []*rbacv1.ClusterRoleBinding
	roleBindings        []*rbacv1.RoleBinding
}

// lookThrough finds the resources that the objects define, and the roles and bindings.
func (s *search) lookThrough(objects []*unstructured.Unstructured) *ownObjects {
	own := &ownObjects{
		resources:    map[schema.GroupKind]resource{},
		clusterRoles: map[string]*rbacv1.ClusterRole{},
		roles:        map[[2]string]*rbacv1.Role{},
	}
	for _, object := range objects {
		if err := own.add(object); err != nil {
			s.incomplete("%s is not as its kind has to be: %v", describe(object), err)
		}
	}
	return own
}

func (own *ownObjects) add(object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind()
	switch {
	case kind.Group == "apiextensions.k8s.io" && kind.Kind == "CustomResourceDefinition":
		var fields [4]string
		for i, path := range [][]string{{"spec", "group"}, {"spec", "names", "kind"}, {"spec", "names", "plural"}, {"spec", "scope"}} {
			value, found, err := unstructured.NestedString(object.Object, path...)
			if err == nil && !found {
				err = fmt.Errorf("it has no %s", path[len(path)-1])
			}
			if err != nil {
				return err
			}
			fields[i] = value
		}
		own.resources[schema.GroupKind{Group: fields[0], Kind: fields[1]}] = resource{group: fields[0], name: fields[2], namespaced: fields[3] == "Namespaced"}
		return nil
	case kind.Group != rbacv1.GroupName:
		return nil
	}
	convert := func(into any) error {
		return runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into)
	}
	switch kind.Kind {
	case "ClusterRole":
		role := &rbacv1.ClusterRole{}
		err := convert(role)
		// Of two ClusterRoles of one name, whichever of them is written last, both count: objects are not trusted to name a role once.
		if first := own.clusterRoles[object.GetName()]; first != nil {
			role.Rules = slices.Concat(first.Rules, role.Rules)
			role.Labels = labels.Merge(first.Labels, role.Labels)
			both := slices.Concat(ptr.Deref(first.AggregationRule, rbacv1.AggregationRule{}).ClusterRoleSelectors, ptr.Deref(role.AggregationRule, rbacv1.AggregationRule{}).ClusterRoleSelectors)
			if len(both) > 0 {
				role.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: both}
			}
		}
		own.clusterRoles[object.GetName()] = role
		return err
	case "Role":
		role := &rbacv1.Role{}
		err := convert(role)
		key := [2]string{object.GetNamespace(), object.GetName()}
		if first := own.roles[key]; first != nil {
			role.Rules = slices.Concat(first.Rules, role.Rules)
		}
		own.roles[key] = role
		return err
	case "ClusterRoleBinding":
		binding := &rbacv1.ClusterRoleBinding{}
		err := convert(binding)
		own.clusterRoleBindings = append(own.clusterRoleBindings, binding)
		return err
	case "RoleBinding":
		binding := &rbacv1.RoleBinding{}
		err := convert(binding)
		own.roleBindings = append(own.roleBindings, binding)
		return err
	}
	return nil
}

// object needs what is done with every object of a revision.
func (s *search) object(object *unstructured.Unstructured) error {
	// The definitions in the objects come first: they are there before their objects.
	kind := object.GroupVersionKind()
	of, found := s.own.resources[kind.GroupKind()]
	if !found {
		mapping, err := s.source.RESTMapping(kind.GroupKind(), kind.Version)
		switch {
		case err == nil:
			found, of = true, resource{group: mapping.Resource.Group, name: mapping.Resource.Resource, namespaced: mapping.Scope.Name() == meta.RESTScopeNameNamespace}
		case !meta.IsNoMatchError(err):
			return fmt.Errorf("find the resource of %s: %w", kind, err)
		}
	}
	if !found {
		s.incomplete("the cluster has no resource for %s of %s; install the CustomResourceDefinition of its kind first", describe(object), safetext.Truncate(object.GetAPIVersion(), maxName))
		return nil
	}
	r := right{group: of.group, resource: of.name}
	if of.namespaced {
		if r.namespace = object.GetNamespace(); r.namespace == "" {
			s.incomplete("%s names no namespace", describe(object))
			return nil
		}
	}
	r.verb = "create"
	if err := s.request(r); err != nil {
		return err
	}
	r.named, r.name = true, object.GetName()
	for _, r.verb = range objectVerbs {
		if err := s.request(r); err != nil {
			return err
		}
	}
	return nil
}

// maxName is how much of a name a message repeats, in bytes.
const maxName = 300

// describe names an object in messages. Names were written by others, and may be of any length.
func describe(object *unstructured.Unstructured) string {
	name := object.GetName()
	if object.GetNamespace() != "" {
		name = object.GetNamespace() + "/" + name
	}
	return safetext.Truncate(object.GetKind(), maxName) + " " + safetext.Truncate(name, maxName)
}
