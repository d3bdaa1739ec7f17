package bigcatalog

import (
	"bytes"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// TestShape counts what is in catalogs of all sorts of sizes.
func TestShape(t *testing.T) {
	for _, s := range []Shape{{1, 1, 100}, {1, 20, 3000}, {3, 3, 1000}, {7, 100, 2000}, {331, 6980, 0}} {
		var all catalog.Catalog
		for i := range s.Packages {
			c := Package(s, i)
			all.Packages = append(all.Packages, c.Packages...)
			all.Channels = append(all.Channels, c.Channels...)
			all.Bundles = append(all.Bundles, c.Bundles...)
		}
		for _, p := range catalog.Validate(&all) {
			t.Errorf("%+v: %v", s, p)
		}
		if len(all.Packages) != s.Packages || len(all.Bundles) != s.Bundles {
			t.Errorf("%+v: %d packages, %d bundles", s, len(all.Packages), len(all.Bundles))
		}
	}
}

func TestSize(t *testing.T) {
	for _, i := range []int{0, 1, 100} {
		var out bytes.Buffer
		c := Package(Full, i)
		must.NoError(t, catalog.WriteYAML(&out, c))
		want := Full.BundleBytes
		if i == 0 {
			want *= firstFactor
		}
		if got := out.Len() / len(c.Bundles); got < want*7/10 || got > want*14/10 {
			t.Errorf("bundles of package %d have %d bytes each, want about %d", i, got, want)
		}
		var again bytes.Buffer
		must.NoError(t, catalog.WriteYAML(&again, Package(Full, i)))
		if !bytes.Equal(out.Bytes(), again.Bytes()) {
			t.Errorf("package %d differs when it is made again", i)
		}
	}
}
