package resolution

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
)

// TestACrowdIsBlamedOnWhoHasMost: a package that is refused because of what all have together is told of the package that has most.
func TestACrowdIsBlamedOnWhoHasMost(t *testing.T) {
	of := func(pkg string) *node { return &node{bundle: &catalog.BundleInfo{Package: pkg}} }
	var c crowd
	c.count(of("asker"), looksAnOffer, 9) // ten with the look
	c.count(of("tie"), 0, maxPackageOffers-1)
	for _, pkg := range []string{"b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		if d := c.of(of("asker")); d != (dear{}) {
			t.Fatalf("before all have too many together: %+v", d)
		}
		c.count(of(pkg), 0, maxPackageOffers)
	}
	c.count(of("j"), 0, 1)
	if d := c.of(of("asker")); d.pkg != "j" || !strings.Contains(d.why, "more than 5000000 candidates, most of all those of package j") {
		t.Errorf("who asks is told %+v", d)
	}
	c.count(of("i"), 0, 1)
	if d := c.of(of("asker")); d.pkg != "i" {
		t.Errorf("of two with as many, %q is blamed", d.pkg)
	}
	if d := c.of(of("j")); d.pkg != "j" || !strings.Contains(d.why, "the needs of package j together have more than 500000 candidates") {
		t.Errorf("who has too many alone is told %+v", d)
	}
}
