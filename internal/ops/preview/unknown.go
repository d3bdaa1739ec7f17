package preview

import (
	"fmt"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"

	"sigs.k8s.io/json"
)

// maxUnknown is how many unknown fields of an object are told of.
const maxUnknown = 5

// noteUnknown notes the fields of a spec that people write and that are not known: they say nothing, and are most likely misspelt. What
// bundles bring, as ClusterServiceVersions, is not looked at.
func (o *Objects) noteUnknown(h *head, document []byte) {
	written := map[string]any{
		v1alpha1.SubscriptionKind: &v1alpha1.Subscription{}, v1alpha1.CatalogSourceKind: &v1alpha1.CatalogSource{},
		operatorsv1.OperatorGroupKind: &operatorsv1.OperatorGroup{}, olmv1.ClusterExtensionKind: &olmv1.ClusterExtension{},
		olmv1.ClusterCatalogKind: &olmv1.ClusterCatalog{},
	}[h.Kind]
	if written == nil {
		return
	}
	strict, err := json.UnmarshalStrict(document, written, json.DisallowUnknownFields)
	if err != nil { // which has been told
		return
	}
	told := 0
	for _, wrong := range strict {
		if field, unknown := strings.CutPrefix(wrong.Error(), `unknown field "spec.`); unknown && told < maxUnknown {
			told++
			o.Unknown = append(o.Unknown, tidy(fmt.Sprintf("%s has a field spec.%s, which is not known and says nothing: correct its name", h, strings.TrimSuffix(field, `"`))))
		}
	}
}
