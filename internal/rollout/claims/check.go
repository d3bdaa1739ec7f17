package claims

import (
	"encoding/json"
	"errors"
	"fmt"

	"fairlead.dev/fairlead/bundle"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// CheckCRD refuses CRDs of the manager itself, those of an API that Kubernetes does not have any more, and those that it will not take.
func CheckCRD(object *unstructured.Unstructured) error {
	if err := bundle.CheckCRDName(object.GetName()); err != nil {
		return err
	}
	gvk := object.GroupVersionKind()
	if gvk.Version == apiextensionsv1.SchemeGroupVersion.Version {
		if text, err := json.Marshal(object); err != nil || len(text) > bundle.MaxStored {
			return errors.Join(err, fmt.Errorf("%s %s has %d bytes, and etcd takes at most %d: its author has to make it smaller, such as by shorter descriptions: %w",
				crdKind, object.GetName(), len(text), bundle.MaxStored, bundle.ErrUnwritable))
		}
		return nil
	}
	return fmt.Errorf("api-server resource not found installing %s %s: GroupVersionKind %s not found on the cluster. Kubernetes 1.22 removed it: "+
		"install a version of the operator whose bundle has this CRD as %s, with a schema for each version; if there is none, ask its author for one",
		crdKind, object.GetName(), gvk, apiextensionsv1.SchemeGroupVersion)
}
