package bundle

import (
	"encoding/base64"
	"strings"

	"fairlead.dev/fairlead/catalog"
)

// Icon is the first icon of the ClusterServiceVersion that can be read, for the package in a catalog; nil if there is none.
func (b *Bundle) Icon() *catalog.Icon {
	for _, icon := range b.CSV.Spec.Icon {
		data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(icon.Data), ""))
		if err == nil && len(data) > 0 {
			return &catalog.Icon{Data: data, MediaType: icon.MediaType}
		}
	}
	return nil
}
