package packageserver

import (
	"context"
	"fmt"
	"time"

	packagesv1 "fairlead.dev/fairlead/api/packages/v1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apiserver/pkg/registry/rest"
)

var _ rest.TableConvertor = &storage{}

// columns are those of kubectl get.
var columns = []metav1.TableColumnDefinition{
	{Name: "Name", Type: "string", Format: "name", Description: "Name of the package"},
	{Name: "Catalog", Type: "string", Description: "Name for people of the catalog that offers the package"},
	{Name: "Age", Type: "date", Description: "Time since the catalog was created"},
}

// ConvertToTable makes the rows that kubectl shows.
func (s *storage) ConvertToTable(_ context.Context, object runtime.Object, options runtime.Object) (*metav1.Table, error) {
	var t metav1.Table
	o, _ := options.(*metav1.TableOptions)
	if o == nil || !o.NoHeaders {
		t.ColumnDefinitions = columns
	}
	whole := o != nil && o.IncludeObject == metav1.IncludeObject
	switch object := object.(type) {
	case *list:
		t.ListMeta = object.ListMeta
		items := object.PackageManifestList
		if whole {
			var err error
			if items, err = object.whole(); err != nil {
				return nil, err
			}
		}
		for i := range items.Items {
			t.Rows = append(t.Rows, row(&items.Items[i], object.offers[i].source.Spec.DisplayName))
		}
	case *packagesv1.PackageManifest:
		t.ResourceVersion = object.ResourceVersion
		t.Rows = append(t.Rows, row(object, object.Status.CatalogSourceDisplayName))
	default:
		return nil, fmt.Errorf("make a table of %T: it is no PackageManifest", object)
	}
	return &t, nil
}

func row(m *packagesv1.PackageManifest, catalog string) metav1.TableRow {
	age := "<unknown>"
	if !m.CreationTimestamp.IsZero() {
		age = duration.HumanDuration(time.Since(m.CreationTimestamp.Time)) // by the real clock, as other API servers do
	}
	return metav1.TableRow{Cells: []any{m.Name, catalog, age}, Object: runtime.RawExtension{Object: m}}
}
