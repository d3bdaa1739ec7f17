package preview

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog/safetext"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// appender adds an object of one kind.
type appender func(o *Objects, document []byte) error

// kinds are those that a decision is about. The older version of the OperatorGroup differs in nothing that counts.
var kinds = func() map[schema.GroupVersionKind]appender {
	group := func(o *Objects, d []byte) error { return appendTo(&o.Groups, d) }
	v0, v1 := v1alpha1.GroupVersion, olmv1.GroupVersion
	return map[schema.GroupVersionKind]appender{
		v0.WithKind(v1alpha1.SubscriptionKind):                                                            func(o *Objects, d []byte) error { return appendTo(&o.Subscriptions, d) },
		v0.WithKind(v1alpha1.ClusterServiceVersionKind):                                                   func(o *Objects, d []byte) error { return appendTo(&o.Operators, d) },
		v0.WithKind(v1alpha1.InstallPlanKind):                                                             func(o *Objects, d []byte) error { return appendTo(&o.Plans, d) },
		v0.WithKind(v1alpha1.CatalogSourceKind):                                                           func(o *Objects, d []byte) error { return appendTo(&o.Sources, d) },
		v1.WithKind(olmv1.ClusterExtensionKind):                                                           func(o *Objects, d []byte) error { return appendTo(&o.Extensions, d) },
		v1.WithKind(olmv1.ClusterCatalogKind):                                                             func(o *Objects, d []byte) error { return appendTo(&o.Clustered, d) },
		corev1.SchemeGroupVersion.WithKind("ConfigMap"):                                                   func(o *Objects, d []byte) error { return appendTo(&o.ConfigMaps, d) },
		operatorsv1.GroupVersion.WithKind(operatorsv1.OperatorGroupKind):                                  group,
		{Group: operatorsv1.GroupVersion.Group, Version: "v1alpha2", Kind: operatorsv1.OperatorGroupKind}: group,
	}
}()

// add adds one object.
func (o *Objects) add(h *head, document []byte) error {
	if h.Kind == "" && h.Schema != "" {
		return errors.New("it is part of a catalog: name the directory that it is in with --catalog NAME=DIR")
	}
	if h.Kind == "" {
		return errors.New("it is not a Kubernetes object: it has no kind; give what kubectl get -o yaml prints")
	}
	if h.Kind == "List" {
		return errors.New("it is a list in a list; write its items into the outer one")
	}
	appendObject, known := kinds[h.GroupVersionKind()]
	if !known {
		// Those of the known kind that a user may have meant who names another version of its group, or none.
		meant := h.GroupVersionKind()
		var versions []string
		for gvk := range kinds {
			if gvk.Kind == meant.Kind && (gvk.Group == meant.Group || meant.Group == "") {
				versions = append(versions, gvk.GroupVersion().String())
			}
		}
		slices.SortFunc(versions, safetext.Natural)
		if len(versions) > 0 {
			return fmt.Errorf("%s: apiVersion %q is not known of this kind; write %s", h, h.APIVersion, strings.Join(versions, " or "))
		}
		o.Ignored = append(o.Ignored, h.String())
		return nil
	}
	if h.Metadata.Name == "" && h.Kind == "ConfigMap" { // nothing can be meant by it
		o.Ignored = append(o.Ignored, h.String())
		return nil
	}
	if h.Metadata.Name == "" {
		return fmt.Errorf("%s without a name: it has no metadata.name; give it one", h)
	}
	if err := appendObject(o, document); err != nil {
		return fmt.Errorf("%s: %w; correct it", h, plain(err))
	}
	o.noteUnknown(h, document)
	return nil
}

func appendTo[T any](list *[]T, document []byte) error {
	var object T
	err := json.Unmarshal(document, &object)
	*list = append(*list, object)
	return err
}
