package bundle

import (
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"

	"github.com/google/go-cmp/cmp"
)

func TestIcon(t *testing.T) {
	tests := map[string]struct {
		icons []v1alpha1.Icon
		want  *catalog.Icon
	}{
		"none":                          {nil, nil},
		"lines are joined":              {[]v1alpha1.Icon{{Data: "aWNv\n  bg==\n", MediaType: "image/png"}}, &catalog.Icon{Data: []byte("icon"), MediaType: "image/png"}},
		"what is broken is passed over": {[]v1alpha1.Icon{{Data: "<svg/>"}, {Data: ""}, {Data: "aWNvbg==", MediaType: "image/gif"}}, &catalog.Icon{Data: []byte("icon"), MediaType: "image/gif"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := &Bundle{CSV: &v1alpha1.ClusterServiceVersion{Spec: v1alpha1.ClusterServiceVersionSpec{Icon: test.icons}}}
			if diff := cmp.Diff(test.want, b.Icon()); diff != "" {
				t.Errorf("icon (-want +got):\n%s", diff)
			}
		})
	}
}
