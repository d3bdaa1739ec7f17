package packageserver

import (
	"context"
	"maps"
	"reflect"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"

	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Reader is a Cluster that is read through a client, which had better be a cache.
type Reader struct{ client.Reader }

var _ Cluster = Reader{}

// CatalogSources are all that the client knows: those of some namespaces where it is limited to these. They must not be changed.
func (r Reader) CatalogSources(ctx context.Context) ([]v1alpha1.CatalogSource, error) {
	var list v1alpha1.CatalogSourceList
	err := r.List(ctx, &list, client.UnsafeDisableDeepCopy)
	return list.Items, err
}

// WithoutGlobal are the namespaces in which an OperatorGroup says so.
func (r Reader) WithoutGlobal(ctx context.Context) (map[string]bool, error) {
	var list operatorsv1.OperatorGroupList
	if err := r.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	alone := map[string]bool{}
	for i := range list.Items {
		if list.Items[i].Annotations[v1alpha1.ExcludeGlobalNamespaceAnnotation] == "true" {
			alone[list.Items[i].Namespace] = true
		}
	}
	return alone, nil
}

// OnChange calls a function when an event is about something that is shown: catalogs report how they are far more often than that.
func OnChange(changed func()) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { changed() },
		UpdateFunc: func(before, after any) {
			same := false
			switch a := after.(type) {
			case *v1alpha1.CatalogSource:
				b, ok := before.(*v1alpha1.CatalogSource)
				same = ok && a.UID == b.UID && maps.Equal(a.Labels, b.Labels) && a.Spec.DisplayName == b.Spec.DisplayName &&
					a.Spec.Publisher == b.Spec.Publisher && a.Spec.Priority == b.Spec.Priority
			case *operatorsv1.OperatorGroup:
				b, ok := before.(*operatorsv1.OperatorGroup)
				const key = v1alpha1.ExcludeGlobalNamespaceAnnotation
				same = ok && (a.Annotations[key] == "true") == (b.Annotations[key] == "true")
			default:
				same = reflect.DeepEqual(before, after)
			}
			if !same {
				changed()
			}
		},
		DeleteFunc: func(any) { changed() },
	}
}
