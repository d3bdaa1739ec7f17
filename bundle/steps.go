package bundle

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
)

// BundleSecretStepKind is the kind of the step for a Secret of a bundle; a step of kind Secret copies a pull secret.
const BundleSecretStepKind = "BundleSecret"

// StepTarget is where a bundle is to be installed and what its catalog knows about it.
type StepTarget struct {
	// Namespace is the namespace of the operator.
	Namespace string
	// Replaces is the name of the ClusterServiceVersion that is to be replaced, empty for none. It takes the place of
	// what the bundle says.
	Replaces string
	// Properties are recorded on the ClusterServiceVersion.
	Properties []catalog.Property
}

// Step is one object of an InstallPlan with the kind of its step.
type Step struct {
	Kind   string
	Object *unstructured.Unstructured
}

// PlanSteps are the Steps of a bundle with the kinds that an InstallPlan lists them under.
func PlanSteps(b *Bundle, t StepTarget) ([]Step, error) {
	objects, err := Steps(b, t)
	if err != nil {
		return nil, err
	}
	steps := make([]Step, 0, len(objects))
	for _, object := range objects {
		kind := object.GetKind()
		if kind == secretKind {
			kind = BundleSecretStepKind
		}
		steps = append(steps, Step{Kind: kind, Object: object})
	}
	return steps, nil
}

// Steps returns the objects of an InstallPlan in their order: the ClusterServiceVersion, the other objects of the
// bundle, CRDs before the rest, then for each service account the account, Roles, RoleBindings, ClusterRoles and
// ClusterRoleBindings. Owner references to the ClusterServiceVersion have no UID yet.
func Steps(b *Bundle, t StepTarget) ([]*unstructured.Unstructured, error) {
	annotation, err := json.Marshal(struct {
		Properties []catalog.Property `json:"properties,omitempty"`
	}{t.Properties})
	if err != nil {
		return nil, fmt.Errorf("make steps of bundle %s: write annotation %s: %w", b.Name, v1alpha1.PropertiesAnnotation, err)
	}
	csv := b.CSV.DeepCopy()
	csv.Namespace = t.Namespace
	csv.Spec.Replaces = t.Replaces
	csv.Annotations = union(csv.Annotations, map[string]string{v1alpha1.PropertiesAnnotation: string(annotation)})
	csv.Status = v1alpha1.ClusterServiceVersionStatus{}
	// Copies of the manifests besides the ClusterServiceVersion, CRDs first, in the target namespace.
	var crds, others []runtime.Object
	for _, object := range b.Objects {
		object = object.DeepCopy()
		if Namespaced(object.GetKind()) {
			object.SetNamespace(t.Namespace)
		} else {
			object.SetNamespace("")
		}
		if object.GetKind() == crdKind {
			crds = append(crds, object)
		} else {
			others = append(others, object)
		}
	}
	accounts, err := RBAC(csv)
	if err != nil {
		return nil, fmt.Errorf("make steps of bundle %s: %w", b.Name, err)
	}
	for _, account := range accounts {
		others = append(others, account.objects()...)
	}
	var steps []*unstructured.Unstructured
	for _, object := range slices.Concat([]runtime.Object{csv}, crds, others) {
		step, err := ToUnstructured(object)
		if err != nil {
			return nil, fmt.Errorf("make steps of bundle %s: %w", b.Name, err)
		}
		steps = append(steps, step)
	}
	return steps, nil
}

func (a *AccountRBAC) objects() []runtime.Object {
	var out []runtime.Object
	if a.ServiceAccount != nil {
		out = append(out, a.ServiceAccount)
	}
	for _, o := range a.Roles {
		out = append(out, o)
	}
	for _, o := range a.RoleBindings {
		out = append(out, o)
	}
	for _, o := range a.ClusterRoles {
		out = append(out, o)
	}
	for _, o := range a.ClusterRoleBindings {
		out = append(out, o)
	}
	return out
}

// ToUnstructured is an object as a manifest, without what belongs to the API server, and what encoders leave of it in manifests.
func ToUnstructured(object runtime.Object) (*unstructured.Unstructured, error) {
	out, ok := object.(*unstructured.Unstructured)
	if !ok {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return nil, fmt.Errorf("convert %T: %w", object, err)
		}
		out = &unstructured.Unstructured{Object: content}
	}
	delete(out.Object, "status")
	for _, field := range []string{"creationTimestamp", "resourceVersion", "uid", "generation", "selfLink", "managedFields"} {
		unstructured.RemoveNestedField(out.Object, "metadata", field)
	}
	return out, nil
}
