package revision

import (
	"fmt"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/crd"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// kites is the definition of kites, whose spec has a field of a schema; more goes into its metadata.
func kites(field, more string) string {
	return fmt.Sprintf(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: kites.example.com%s}, spec: {group: example.com,
  scope: Namespaced, names: {plural: kites, singular: kite, kind: Kite, listKind: KiteList}, versions: [{name: v1, served: true, storage: true,
  schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {x: %s}}}}}}]}, status: {storedVersions: [v1]}}`, more, field)
}

const (
	text  = "{type: string}"
	short = "{type: string, maxLength: 5}"
)

// enforced is an extension with a setting of the checks.
func enforced(ext *olmv1.ClusterExtension, how olmv1.CRDUpgradeSafetyEnforcement) *olmv1.ClusterExtension {
	ext.Spec.Install = &olmv1.ClusterExtensionInstallConfig{Preflight: &olmv1.PreflightConfig{CRDUpgradeSafety: &olmv1.CRDUpgradeSafetyPreflightConfig{Enforcement: how}}}
	return ext
}

func TestDefinitions(t *testing.T) {
	live := world(typed[apiextensionsv1.CustomResourceDefinition](t, kites(text, "")))
	const (
		finding = "v1: ^.spec.x: maxLength: maxLength constraint 5 added where there was none"
		wrong   = "annotation " + ExemptionsKey
	)
	for name, c := range map[string]struct {
		ext    *olmv1.ClusterExtension
		wanted string // the definition
		// What is found: whether nothing was checked, the finding, and whether that is exempt.
		unchecked, exempt bool
		finding           string
		err, reason       string
	}{
		"the same":                          {ext: kite(), wanted: kites(text, "")},
		"stricter":                          {ext: kite(), wanted: kites(short, ""), finding: finding},
		"stricter, as checks are by name":   {ext: enforced(kite(), olmv1.CRDUpgradeSafetyEnforcementStrict), wanted: kites(short, ""), finding: finding},
		"stricter, exempt":                  {ext: kite(ExemptionsKey, "maxLength kites.example.com ^.spec"), wanted: kites(short, ""), finding: finding, exempt: true},
		"stricter, another one is exempt":   {ext: kite(ExemptionsKey, "maxLength hawks.example.com"), wanted: kites(short, ""), finding: finding},
		"stricter, nothing is checked":      {ext: enforced(kite(), olmv1.CRDUpgradeSafetyEnforcementNone), wanted: kites(short, ""), unchecked: true},
		"exemptions that nobody reads":      {ext: enforced(kite(ExemptionsKey, "nonsense"), olmv1.CRDUpgradeSafetyEnforcementNone), wanted: kites(text, ""), unchecked: true},
		"exemptions that nobody can read":   {ext: kite(ExemptionsKey, "nonsense"), wanted: kites(text, ""), err: wrong, reason: olmv1.ReasonInvalidConfiguration},
		"of a bundle that nobody can read":  {ext: kite(), wanted: "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: kites.example.com}, spec: {versions: all}}", err: "read CustomResourceDefinition kites.example.com of the bundle", reason: olmv1.ReasonBlocked},
		"nobody can read it, nor checks it": {ext: enforced(kite(), olmv1.CRDUpgradeSafetyEnforcementNone), wanted: "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: kites.example.com}, spec: {versions: all}}", unchecked: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := Change{Extension: c.ext, Objects: []*unstructured.Unstructured{object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: kites.example.com}}"), object(t, c.wanted)}}
			all, err := Preflight{Client: world(), Live: live}.Definitions(t.Context(), s)
			wantAnswer(t, err, c.err, c.reason)
			if err != nil {
				return
			}
			if len(all) != 1 || all[0].Name != "kites.example.com" || all[0].New || all[0].Unchecked != c.unchecked {
				t.Fatalf("found %+v", all)
			}
			if findings := all[0].Findings; (len(findings) == 1) != (c.finding != "") || len(findings) == 1 && (findings[0].String() != c.finding || (findings[0].Exempt != "") != c.exempt) {
				t.Errorf("found %+v; want %q, exempt: %t", findings, c.finding, c.exempt)
			}
			unsafe := ""
			if c.finding != "" && !c.exempt {
				unsafe = `validating upgrade for CRD "kites.example.com": ` + c.finding
			}
			wantAnswer(t, Unsafe(all), unsafe, "")
			wantAnswer(t, all[0].Err, unsafe, "")
		})
	}
}

// TestDefinitionsOfTheCluster: what it does not have passes, and what it may have is not taken for absent.
func TestDefinitionsOfTheCluster(t *testing.T) {
	s := Change{Extension: kite(), Objects: []*unstructured.Unstructured{object(t, kites(short, ""))}}
	all, err := Preflight{Live: world()}.Definitions(t.Context(), s)
	if err != nil || len(all) != 1 || !all[0].New || all[0].Findings != nil || Unsafe(all) != nil {
		t.Errorf("where there is none: %+v, %v", all, err)
	}
	for name, ext := range map[string]*olmv1.ClusterExtension{"checked": kite(), "unchecked": enforced(kite(), olmv1.CRDUpgradeSafetyEnforcementNone)} {
		s.Extension = ext
		all, err = Preflight{Live: without(world(), "CustomResourceDefinition", errRefused)}.Definitions(t.Context(), s)
		wantAnswer(t, err, "read CustomResourceDefinition kites.example.com, to see whether its upgrade is safe: connection refused", "")
		if all != nil {
			t.Errorf("%s: an answer about a cluster that cannot be read: %+v", name, all)
		}
	}
}

// TestUnsafe tells of all definitions that stand in the way.
func TestUnsafe(t *testing.T) {
	stands := func(name string) Definition {
		return Definition{Name: name, Verdict: crd.Verdict{Err: crd.NewUnsafeError(name, []crd.Finding{{CRD: name, Check: crd.Scope, What: "scope changed"}})}}
	}
	err := Unsafe([]Definition{stands("kites"), {Name: "crows"}, stands("hawks")})
	wantAnswer(t, err, `CRD "kites": scope: scope changed`, "")
	wantAnswer(t, err, `CRD "hawks": scope: scope changed`, "")
	if contains(err, "crows") {
		t.Errorf("tells of one that is safe: %v", err)
	}
}

func TestPolicyOf(t *testing.T) {
	exempt := func(check crd.Check, name, path string) crd.Exemption {
		return crd.Exemption{Check: check, CRD: name, Path: path, Reason: "annotation " + ExemptionsKey}
	}
	for name, c := range map[string]struct {
		text string
		want []crd.Exemption
		err  string
	}{
		"nothing":                {"", nil, ""},
		"nothing but separators": {" ; ;", nil, ""},
		"a check after nothing":  {"; enum", []crd.Exemption{exempt("enum", "", "")}, ""},
		"a check":                {"enum", []crd.Exemption{exempt("enum", "", "")}, ""},
		"of a definition":        {" enum  kites.example.com ", []crd.Exemption{exempt("enum", "kites.example.com", "")}, ""},
		"of a property":          {"enum kites.example.com ^.spec.x", []crd.Exemption{exempt("enum", "kites.example.com", "^.spec.x")}, ""},
		"several":                {"enum;\nremoval kites.example.com;", []crd.Exemption{exempt("enum", "", ""), exempt("removal", "kites.example.com", "")}, ""},
		"too many words":         {"enum; type a b c", nil, `annotation operators.fairlead.dev/crd-upgrade-exemptions has "type a b c", which is not CHECK [CRD [PATH]]`},
		"a check that is not":    {"enums", nil, `names the check "enums"; there are default, enum, existingFieldRemoval, `},
		"one for plans":          {"storageChange", nil, `names the check "storageChange"`},
	} {
		t.Run(name, func(t *testing.T) {
			policy, err := PolicyOf(kite(ExemptionsKey, c.text))
			wantAnswer(t, err, c.err, olmv1.ReasonInvalidConfiguration)
			if diff := cmp.Diff(crd.Policy{Exemptions: c.want}, policy); c.err == "" && diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	policy, err := PolicyOf(enforced(kite(ExemptionsKey, "enum"), olmv1.CRDUpgradeSafetyEnforcementNone))
	if diff := cmp.Diff(crd.Policy{None: true}, policy); diff != "" || err != nil {
		t.Errorf("with checks that are off: %v (-want +got):\n%s", err, diff)
	}
}
