package resolution

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// TestUnnamedExtension decides on extensions without names, as files for offline decisions may have them: none is taken for another one, and all
// that is said names them by what is known.
func TestUnnamedExtension(t *testing.T) {
	installed := func(name string, properties ...catalog.Property) Installed {
		return Installed{Name: name, Properties: properties}
	}
	need := api(1)
	need.Type = catalog.PropertyGVKRequired
	in := ExtensionRequest{Package: "p", Catalogs: []Catalog{{Name: "cat", Index: tower(t, 2)}}, Installed: &Installed{Name: "p.v0", Properties: []catalog.Property{api(1)}}, Policy: SelfCertified,
		Others: []InstalledExtension{{Package: "q", Installed: installed("q.v1", need)}, {Package: "r", Installed: installed("r.v1")}}}
	result, err := Extension(t.Context(), in)
	got := tell(result, err)
	must.Contain(t, "got", got, "ClusterExtension (unnamed, of package q) has q.v1 installed", "ClusterExtension (unnamed, of package p) requires package p")
	if strings.Contains(got, "ClusterExtension  ") {
		t.Errorf("something is named by nothing:\n%s", got)
	}
}
