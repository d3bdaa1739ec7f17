package graph

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"fairlead.dev/fairlead/catalog"
)

// TestFleetOfEquals follows a version that runs many times, in a package that is
// so large that each way takes long to find.
func TestFleetOfEquals(t *testing.T) {
	c := &catalog.Catalog{Channels: []catalog.Channel{{Package: "p", Name: "c"}}}
	for i := range 2_000 {
		c.Channels[0].Entries = append(c.Channels[0].Entries, catalog.Entry{Name: fmt.Sprintf("p.v1.%d.0", i), SkipRange: "<0.1.0"})
		c.Bundles = append(c.Bundles, catalog.Bundle{Package: "p", Name: fmt.Sprintf("p.v1.%d.0", i), Properties: []catalog.Property{
			{Type: catalog.PropertyPackage, Value: []byte(`{"packageName":"p","version":"` + fmt.Sprintf("1.%d.0", i) + `"}`)},
		}})
	}
	fleet := slices.Repeat([]Installed{{Package: "p", Version: "0.5.0"}, {Package: "p", Version: fmt.Sprintf("p.v1.%d.0", 3)}}, 5_000)
	start := time.Now()
	outcomes := Simulate(c, fleet)
	findings := Check(c, Options{Installed: fleet})
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	for i, o := range outcomes {
		if o.Installed != fleet[i] || !reflect.DeepEqual(o, outcomes[i%2]) {
			t.Fatalf("outcome %d is about %v, and not that of the others", i, o.Installed)
		}
	}
	stuck := 0
	for _, f := range findings {
		if f.Rule == RuleInstalledStuck {
			stuck++
		}
	}
	if stuck == 0 || stuck > 4 {
		t.Errorf("%d findings about two versions", stuck)
	}
}
