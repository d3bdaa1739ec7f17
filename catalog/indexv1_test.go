package catalog

import (
	"strings"
	"testing"
)

// TestUnderV1 demands that errors which matter to v0 alone are distinguished from others: wherever nothing else is wrong, v1 serves every entry.
func TestUnderV1(t *testing.T) {
	only := 0
	for _, name := range archives(t) {
		_, x := built(t, tree(t, name), LoadOptions{})
		problems := x.Problems()
		if len(problems.Errors()) == 0 || len(problems.UnderV1().Errors()) > 0 {
			continue
		}
		only++
		for _, pkg := range x.PackageNamesV1() {
			if p, _ := x.PackageV1(pkg); len(p.Unusable) > 0 {
				t.Errorf("%s: package %s lacks %v, and only v0 is said to leave something out", name, pkg, p.Unusable)
			}
		}
		for _, p := range problems.Errors() {
			if found, ok := x.PackageV1(p.Object.Package); !ok {
				t.Errorf("%s: package %q is not served under v1 in spite of %s", name, p.Object.Package, p)
			} else if _, ok := found.Channel(p.Object.Name); !ok {
				t.Errorf("%s: channel %s is not served under v1", name, p.Object.Name)
			}
		}
	}
	if only < 10 {
		t.Errorf("only %d catalogs have errors that matter to v0 alone", only)
	}
	broken := Problems{{Severity: Error, Rule: RuleBundleVersion, Object: Object{Schema: SchemaBundle, Package: "a", Name: "a.v1"}},
		{Severity: Error, Rule: RuleChannelHead, Object: Object{Schema: SchemaChannel, Package: "a", Name: "c"}},
		{Severity: Error, Rule: RulePackageName, Object: Object{Schema: SchemaPackage, Name: "a"}},
		{Severity: Warning, Rule: RuleRelatedImage, Object: Object{Schema: SchemaBundle, Package: "a"}},
		{Severity: Error, Rule: RuleBundleVersion, Object: Object{Schema: SchemaBundle, Package: "b"}}}
	var rules []string
	for _, p := range broken.UnderV1().About("a") {
		rules = append(rules, string(p.Rule))
	}
	if got := strings.Join(rules, " "); got != "bundle-version package-name" {
		t.Errorf("the errors about a under v1 are %s", got)
	}
}
