package catalogserver

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
)

// The parameters of a query for objects.
const (
	paramSchema  = "schema"
	paramPackage = "package"
	paramName    = "name"
)

// parseQuery reads the parameters of a query. Of a parameter that is given more than once the first value counts.
func parseQuery(raw string) (catalog.ObjectFilter, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return catalog.ObjectFilter{}, fmt.Errorf("the query cannot be read: %w", err)
	}
	var unknown []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if key != paramSchema && key != paramPackage && key != paramName {
			unknown = append(unknown, fmt.Sprintf("%q", key))
		}
	}
	if len(unknown) > 0 {
		return catalog.ObjectFilter{}, fmt.Errorf("unknown parameters %s: use %s, %s and %s",
			strings.Join(unknown, ", "), paramSchema, paramPackage, paramName)
	}
	return catalog.ObjectFilter{Schema: values.Get(paramSchema), Package: values.Get(paramPackage), Name: values.Get(paramName)}, nil
}
