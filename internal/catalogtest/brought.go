package catalogtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/internal/rollout/crd"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// object is an object of a cluster by its kind and name.
type object struct {
	schema.GroupVersionKind
	namespace, name string
}

// String is the object as findings name it.
func (o object) String() string {
	kind, name := o.Kind, o.name
	if o.Group != "" {
		kind += "." + o.Group
	}
	if o.namespace != "" {
		name = o.namespace + "/" + name
	}
	return kind + " " + name
}

// metadata is the object to be read by a client.
func (o object) metadata() *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: o.name}}
	m.SetGroupVersionKind(o.GroupVersionKind)
	return m
}

// namespaced tells whether an object of a bundle lives in a namespace.
func namespaced(o *unstructured.Unstructured) bool { return bundle.Namespaced(o.GetKind()) }

// broughtV1 are the objects of a bundle under v1, CustomResourceDefinitions aside.
func broughtV1(b *bundle.Bundle, namespace string, config []byte) (map[object]bool, error) {
	rendered, err := registryv1.Render(b, registryv1.Options{Namespace: namespace, Config: config})
	if err != nil {
		return nil, fmt.Errorf("list the objects of bundle %s: %w", b.Name, err)
	}
	return objectsOf(rendered.Objects), nil
}

// broughtV0 are the objects of a bundle under v0 that have names which are known before, CustomResourceDefinitions aside.
func broughtV0(b *bundle.Bundle, namespace string) (map[object]bool, error) {
	steps, err := bundle.Steps(b, bundle.StepTarget{Namespace: namespace})
	if err != nil {
		return nil, fmt.Errorf("list the objects of bundle %s: %w", b.Name, err)
	}
	all := objectsOf(steps)
	for _, d := range b.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		all[object{schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, namespace, d.Name}] = true
	}
	for _, d := range bundle.ServingDeployments(b.CSV) {
		all[object{schema.GroupVersionKind{Version: "v1", Kind: "Service"}, namespace, bundle.ServingServiceName(d)}] = true
	}
	return all, nil
}

func objectsOf(list []*unstructured.Unstructured) map[object]bool {
	all := map[object]bool{}
	for _, u := range list {
		if u.GetKind() != "CustomResourceDefinition" {
			all[object{u.GroupVersionKind(), u.GetNamespace(), u.GetName()}] = true
		}
	}
	return all
}

// without are the objects of a set that another one does not have, whatever the versions of their kinds, in the order of their names.
func without(set, other map[object]bool) []object {
	has := map[string]bool{}
	for o := range other {
		has[o.String()] = true
	}
	left := slices.DeleteFunc(slices.Collect(maps.Keys(set)), func(o object) bool { return has[o.String()] })
	slices.SortFunc(left, func(a, b object) int { return strings.Compare(a.String(), b.String()) })
	return left
}

// definitionsIn are the CustomResourceDefinitions of a bundle. One that cannot be read is what the installation fails for.
func definitionsIn(b *bundle.Bundle) []*apiextensionsv1.CustomResourceDefinition {
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, o := range b.Objects {
		if o.GetKind() == "CustomResourceDefinition" {
			if d, err := crd.Read(o); err == nil {
				all = append(all, d)
			}
		}
	}
	return all
}
