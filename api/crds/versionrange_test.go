package crds_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
)

func extensionWithVersion(version string) map[string]any {
	return map[string]any{
		"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension", "metadata": map[string]any{"name": "a"},
		"spec": map[string]any{
			"namespace": "a",
			"source": map[string]any{
				"sourceType": "Catalog",
				"catalog":    map[string]any{"packageName": "a", "version": version},
			},
		},
	}
}

func TestVersionRangeGrammar(t *testing.T) {
	for name, tc := range map[string]struct {
		versions []string
		admitted bool
	}{
		"exact":        {[]string{"1", "1.2", "1.2.3", "v1.2.3", "=1.2.3", "1.2.3-alpha+001", "1.2.3+2", "0.0.0"}, true},
		"comparators":  {[]string{">=1.0.0-0", "=>1.0", "=<1.0", "<=2", "!=1.2.3", "~1.2", "~>1.2", "^1", ">= 1.0.0", "> 1"}, true},
		"wildcards":    {[]string{"*", "x", "X", "1.x", "1.*", "1.2.*", "1.X", "x.x", "1.x.x", "1.*.*", "x.x.x"}, true},
		"joined":       {[]string{">=1.0.0 <2.0.0", ">=1.0.0, <2.0.0", "^1 || ^3", "^1||^3", "1,2", ">=1.0.0 ,<2.0.0", "^1 || >=3 <4 || 7.x"}, true},
		"hyphens":      {[]string{"1.2.3 - 2.0.0", "1.2 - 2", "v1.2 - v1.4", "1.2 - 1.4.5, != 1.3", "!=1.3, 1.2 - 2", "1 - 2 || 4 - 5", "1 - 2 !=1.5"}, true},
		"white space":  {[]string{" 1.2.3", "1.2.3 ", "\t>=1.0\t", "1.2.3\n", "  ^1   ||   ^3  "}, true},
		"nothing":      {[]string{"", " ", "\n"}, false},
		"leading zero": {[]string{"01.2.3", "1.02.3", "1.2.03"}, false},
		"dangling":     {[]string{"1.2.3||", "||1.2.3", "1.2.3,", ",1.2.3", "1.2.3 -", "- 1.2.3", ">=", "1 || || 2", "1,,2"}, false},
		"two signs":    {[]string{"> =1", ">>1", "= = 1", "^~1", "==1"}, false},
		"not versions": {[]string{"latest", "1.2.3.4", "1.2.3-", "1.2.3+", "1.2.3-a..b", "1.2.3_4", "1..2", ".1", "1.", "V1.2.3"}, false},
		"nonsense":     {[]string{"|", "1.*]", "1.|", "[1.2]", "1 | 2"}, false},
		"half hyphens": {[]string{">1 - 2", "1 - >2", "1 - 2 - 3", "1.2.3 -2.0.0"}, false},
		// The parser of ranges misreads these.
		"hyphens ill joined": {[]string{"!=1.3 1.2 - 2", "1||2 - 3", "1 - 2||3"}, false},
		"too long":           {[]string{"1.2.3-" + strings.Repeat("a", 60)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, version := range tc.versions {
				_, _, errs := admit(t, extensionWithVersion(version))
				if admitted := len(errs) == 0; admitted != tc.admitted {
					t.Errorf("%q: admitted is %t, want %t: %v", version, admitted, tc.admitted, errs)
				}
				if _, err := semver.NewConstraint(version); tc.admitted && err != nil {
					t.Errorf("%q is admitted, but cannot be used: %v", version, err)
				}
			}
		})
	}
}

func TestVersionRangeMessage(t *testing.T) {
	_, _, errs := admit(t, extensionWithVersion("latest"))
	if len(errs) != 1 || errs[0].Field != "spec.source.catalog.version" || !strings.Contains(errs[0].Detail, "invalid version expression") {
		t.Errorf("want one error about spec.source.catalog.version that says invalid version expression, got %v", errs)
	}
}

// TestRandomVersionRanges builds ranges by the grammar, which both the API server and the resolver have to take.
func TestRandomVersionRanges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		joints := []string{" ", ", ", ",", " || ", "||"}
		hyphens := r.IntN(3) == 0
		if hyphens {
			joints = joints[1:4]
		}
		terms := make([]string, 1+r.IntN(3))
		for i := range terms {
			terms[i] = randomTerm(r, hyphens)
		}
		version := pick(r, "", " ") + strings.Join(terms, pick(r, joints...)) + pick(r, "", " ", "\n")
		if len(version) > 64 {
			continue
		}
		if _, _, errs := admit(t, extensionWithVersion(version)); len(errs) > 0 {
			t.Errorf("%q is not admitted: %v", version, errs)
		}
		if _, err := semver.NewConstraint(version); err != nil {
			t.Errorf("%q is admitted, but cannot be used: %v", version, err)
		}
	}
}

func randomTerm(r *rand.Rand, hyphens bool) string {
	if hyphens && r.IntN(2) == 0 {
		return randomVersion(r) + " - " + randomVersion(r)
	}
	return pick(r, "", "=", "!=", ">", "<", ">=", "=>", "<=", "=<", "~", "~>", "^") + pick(r, "", " ") + randomVersion(r)
}

func randomVersion(r *rand.Rand) string {
	parts := make([]string, 1+r.IntN(3))
	for i := range parts {
		parts[i] = pick(r, "x", "X", "*", "0", fmt.Sprint(r.IntN(100)))
	}
	return pick(r, "", "v") + strings.Join(parts, ".") + pick(r, "", "", "-rc.1", "-0") + pick(r, "", "", "+2", "+git.7")
}

func pick(r *rand.Rand, choices ...string) string { return choices[r.IntN(len(choices))] }
