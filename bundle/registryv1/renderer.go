package registryv1

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// renderer is a bundle that can be installed with all that its objects depend on.
type renderer struct {
	bundle *bundle.Bundle
	// csv is the ClusterServiceVersion in the namespace of the installation. All else of it is shared with the bundle.
	csv     *v1alpha1.ClusterServiceVersion
	options Options
	// targets are the namespaces that the operator watches.
	targets []string
	// config is merged into the Deployments, when it is not nil.
	config *v1alpha1.SubscriptionConfig
	// certs are the serving certificates, by Deployment.
	certs map[string]bundle.ServingCert
}

func newRenderer(b *bundle.Bundle, o Options) (*renderer, error) {
	switch o.Certificates {
	case "":
		o.Certificates = BuiltIn
	case BuiltIn, CertManager, ServiceCA:
	default:
		return nil, fmt.Errorf("render bundle %s: certificate provider %q is not known; use %s, %s or %s", b.Name, o.Certificates, BuiltIn, CertManager, ServiceCA)
	}
	if o.Namespace == "" {
		return nil, fmt.Errorf("render bundle %s: %w", b.Name, errors.New("there is no namespace to install it in; name one"))
	}
	if err := Validate(b); err != nil {
		return nil, err
	}
	modes, err := modesOf(b)
	if err != nil {
		return nil, err
	}
	config, err := readConfig(modes, o.Namespace, o.Config)
	if err != nil {
		return nil, err
	}
	csv := *b.CSV
	csv.Namespace = o.Namespace
	r := &renderer{bundle: b, csv: &csv, options: o, targets: config.targets, config: config.deployment}
	r.certs = r.servingCerts()
	return r, nil
}

// all says whether the operator watches all namespaces.
func (r *renderer) all() bool { return slices.Equal(r.targets, []string{metav1.NamespaceAll}) }

// generators make the objects of a bundle, in their order.
var generators = []func(*renderer) ([]runtime.Object, error){
	(*renderer).serviceAccounts,
	(*renderer).roles,
	(*renderer).clusterRoles,
	(*renderer).customResourceDefinitions,
	(*renderer).manifests,
	(*renderer).operatorCondition,
	(*renderer).deployments,
	(*renderer).validatingWebhooks,
	(*renderer).mutatingWebhooks,
	(*renderer).services,
	(*renderer).apiServices,
	(*renderer).certificates,
}

// objects runs the generators. No two objects may be the same one: which of them would win is chance.
func (r *renderer) objects() ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	seen := map[string]bool{}
	p := &problems{}
	for _, generate := range generators {
		objects, err := generate(r)
		if err != nil {
			return nil, fmt.Errorf("render bundle %s: %w", r.bundle.Name, err)
		}
		for _, object := range objects {
			u, err := toUnstructured(object)
			if err != nil {
				return nil, fmt.Errorf("render bundle %s: %w", r.bundle.Name, err)
			}
			bundle.DropAggregation(u)
			key := u.GroupVersionKind().GroupKind().String() + " " + u.GetNamespace() + " " + u.GetName()
			if seen[key] {
				p.add(u.GetKind()+" "+u.GetName(), "", "a manifest of the bundle has the name that the operator's own object needs; rename it")
			}
			seen[key] = true
			out = append(out, u)
		}
	}
	if len(p.list) > 0 {
		return nil, &InvalidError{Bundle: r.bundle.Name, Problems: p.list}
	}
	return out, nil
}

func toUnstructured(object runtime.Object) (*unstructured.Unstructured, error) {
	out, ok := object.(*unstructured.Unstructured)
	if !ok {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return nil, fmt.Errorf("convert %T: %w", object, err)
		}
		out = &unstructured.Unstructured{Object: content}
	}
	// What belongs to the API server has no place in what is applied.
	delete(out.Object, "status")
	for _, field := range []string{"creationTimestamp", "resourceVersion", "uid", "generation", "selfLink", "managedFields"} {
		unstructured.RemoveNestedField(out.Object, "metadata", field)
	}
	return out, nil
}

// meta is the metadata of an object in the namespace of the installation.
func (r *renderer) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: r.options.Namespace}
}
