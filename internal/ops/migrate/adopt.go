package migrate

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var deploymentKind = schema.GroupKind{Group: "apps", Kind: "Deployment"}

// Adopt is an object of a bundle as it is to be when it is taken over: where it is there already as a Deployment, the spec stays as it was
// found, so that no pod is restarted. live is nil for what is not there.
func Adopt(owner Owner, wanted, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if live == nil {
		return wanted, nil
	}
	if why := owner.Refused(live); why != "" {
		return nil, fmt.Errorf("take %s over with ClusterServiceVersion %s: %s", Name(wanted), owner.CSV, why)
	}
	if !KeptAsFound(wanted) {
		return wanted, nil
	}
	spec, ok := live.Object["spec"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("take %s over with ClusterServiceVersion %s: it has no spec", Name(wanted), owner.CSV)
	}
	out := wanted.DeepCopy()
	found := (&unstructured.Unstructured{Object: map[string]any{"spec": spec}}).DeepCopy()
	// How many pods run is a matter of the bundle only where it says so: else somebody scales the Deployment.
	if _, says, _ := unstructured.NestedFieldNoCopy(wanted.Object, "spec", "replicas"); !says {
		unstructured.RemoveNestedField(found.Object, "spec", "replicas")
	}
	// The API server writes this where there is no time, and refuses it from others.
	unstructured.RemoveNestedField(found.Object, "spec", "template", "metadata", "creationTimestamp")
	out.Object["spec"] = found.Object["spec"]
	return out, nil
}

// KeptAsFound tells whether an object runs pods, so that its spec stays as it was found.
func KeptAsFound(u *unstructured.Unstructured) bool {
	return u.GroupVersionKind().GroupKind() == deploymentKind
}

// Name is the kind and the name of an object, for people.
func Name(u *unstructured.Unstructured) string {
	if u.GetNamespace() == "" {
		return u.GetKind() + " " + u.GetName()
	}
	return u.GetKind() + " " + u.GetNamespace() + "/" + u.GetName()
}
