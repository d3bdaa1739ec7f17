package bundle

import (
	"errors"
	"testing"
)

func TestCheckCRDName(t *testing.T) {
	for name, forbidden := range map[string]bool{
		"things.example.com":                             false,
		"servicebindings.binding.operators.coreos.com":   false, // of an operator that is widely used
		"operators.coreos.com":                           false, // a plural and the group coreos.com
		"installplans.operators.coreos.com":              true,
		"operatorsources.operators.coreos.com":           true, // of the time before: no operator brings it
		"clusterextensions.olm.operatorframework.io":     true,
		"clusterobjectsets.olm.operatorframework.io":     true,
		"packagemanifests.packages.operators.coreos.com": true,
		"things": false,
		"":       false,
	} {
		if err := CheckCRDName(name); errors.Is(err, ErrForbiddenCRD) != forbidden {
			t.Errorf("%q: error %v, want forbidden %v", name, err, forbidden)
		} else if forbidden {
			wantError(t, err, "CustomResourceDefinition "+name, "take it out of the bundle")
		}
	}
}
