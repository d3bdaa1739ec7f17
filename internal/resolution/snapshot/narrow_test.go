package snapshot

import (
	"math"
	"slices"
	"testing"

	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestNarrow: what is selected may meet needs, but never stands in for the image.
func TestNarrowToImage(t *testing.T) {
	x := readImage(t)
	stable, fast := resolution.Catalog{Name: "stable", Labels: map[string]string{"tier": "stable"}, Priority: 7}, resolution.Catalog{Name: "fast"}
	for name, c := range map[string]struct {
		selector *metav1.LabelSelector
		want     []string // catalogs that are left besides
	}{
		"all":      {nil, []string{"stable", "fast"}},
		"by label": {&metav1.LabelSelector{MatchLabels: map[string]string{"tier": "stable"}}, []string{"stable"}},
		"by name":  {&metav1.LabelSelector{MatchLabels: map[string]string{resolution.LabelName: "fast"}}, []string{"fast"}},
		"none is":  {&metav1.LabelSelector{MatchLabels: map[string]string{"tier": "none"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			in := resolution.ExtensionRequest{Name: "my", Package: "kite", Version: "9.x", Channels: []string{"stable"}, Selector: c.selector, Catalogs: []resolution.Catalog{stable, fast}}
			got := must.Value(NarrowToImage(in, x, pinned))(t)
			var names []string
			for _, k := range got.Catalogs {
				names = append(names, k.Name)
			}
			own := "image " + pinned
			must.Equal(t, "catalogs", names, append(c.want[:len(c.want):len(c.want)], own))
			if last := got.Catalogs[len(got.Catalogs)-1]; last.Index != x || last.Priority != math.MaxInt {
				t.Errorf("the image does not come first: %+v", last)
			}
			if got.Selector != nil || got.Version != "" || !slices.Equal(got.Channels, []string{BundleImageKey}) || got.Policy != resolution.SelfCertified || got.Name != "my" {
				t.Errorf("the request is %+v", got)
			}
			if len(in.Catalogs) != 2 || in.Catalogs[0].Name != "stable" || in.Catalogs[1].Name != "fast" {
				t.Errorf("the caller's catalogs have become %+v", in.Catalogs)
			}
		})
	}
	if _, err := NarrowToImage(resolution.ExtensionRequest{Package: "hawk"}, x, pinned); err == nil || err.Error() != WrongPackage(pinned, "hawk").Error() {
		t.Errorf("an image of another package: %v", err)
	}
	broken := resolution.ExtensionRequest{Package: "kite", Version: "1.x", Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Nor"}}}}
	if got, err := NarrowToImage(broken, x, pinned); err != nil || got.Version != "1.x" || got.Selector != broken.Selector {
		t.Errorf("a selector that is none is not left to those who decide: %+v, %v", got, err)
	}
}
