package crd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/version"
)

type definition = apiextensionsv1.CustomResourceDefinition

// safety compares the CRD that a cluster has with the one that is to replace it, by the checks of CRD upgrade safety. A CRD that the
// cluster does not have, which is nil, passes. Findings are in the order of checks of the whole CRD, versions and paths.
func safety(old, new *definition, policy Policy) []Finding {
	if old == nil || policy.None {
		return nil
	}
	var findings []Finding
	if old.Spec.Scope != new.Spec.Scope {
		findings = append(findings, Finding{Check: Scope, What: fmt.Sprintf("scope changed from %s to %s", old.Spec.Scope, new.Spec.Scope),
			Remedy: "keep the scope: the API server does not change it; another scope needs another CRD"})
	}
	for _, stored := range removedStored(old, new) {
		findings = append(findings, Finding{Check: StoredVersionRemoval, What: fmt.Sprintf("stored version %s removed", stored.Name),
			Remedy: "upgrade first to a bundle whose CRD stores another version and has this one with served: false; its objects are rewritten when it goes"})
	}
	for i := range old.Spec.Versions {
		before, after := &old.Spec.Versions[i], versionOf(new, old.Spec.Versions[i].Name)
		if after == nil {
			continue
		}
		was, is := flatten(schemaOf(before)), flatten(schemaOf(after))
		var gone []string
		for _, path := range slices.Sorted(maps.Keys(was)) {
			parent := slices.ContainsFunc(gone, func(g string) bool { return isPart(path, g) })
			if is[path] == nil && !parent {
				gone = append(gone, path)
			}
		}
		for _, path := range gone {
			findings = append(findings, Finding{Check: ExistingFieldRemoval, Version: before.Name, Path: path,
				What: "field removed", Remedy: "keep the field: its values would be lost with the next write"})
		}
	}
	for i := range old.Spec.Versions { // each version and what becomes of it
		before := &old.Spec.Versions[i]
		if after := versionOf(new, before.Name); after != nil {
			findings = append(findings, compare(before.Name, schemaOf(before), schemaOf(after))...)
		}
	}
	// The versions that are served side by side: without a webhook, an object that is written in one of them is read in the others as it is.
	// What they differed in before is left alone.
	if !converts(new) {
		findings = append(findings, slices.DeleteFunc(servedPairs(new), sets.New(servedPairs(old)...).Has)...)
	}
	for i := range findings {
		findings[i].CRD = new.Name
	}
	return policy.Exempt(findings)
}

// compare checks every property that two schemas have in common.
func compare(label string, old, new *props) []Finding {
	was, is := flatten(old), flatten(new)
	var findings []Finding
	for _, path := range slices.Sorted(maps.Keys(was)) {
		after, common := is[path]
		if !common {
			continue
		}
		for _, c := range propertyChecks {
			if what := c.changed(was[path], after); what != "" {
				findings = append(findings, Finding{Check: c.name, Version: label, Path: path, What: what, Remedy: c.remedy})
			}
		}
		if what := changedOtherwise(was[path], after); what != "" {
			findings = append(findings, Finding{Check: Unhandled, Version: label, Path: path, What: what,
				Remedy: "make sure that every existing object stays valid, and exempt this property"})
		}
	}
	return findings
}

func servedPairs(crd *definition) []Finding {
	var served []*apiextensionsv1.CustomResourceDefinitionVersion
	for i := range crd.Spec.Versions {
		if crd.Spec.Versions[i].Served {
			served = append(served, &crd.Spec.Versions[i])
		}
	}
	slices.SortStableFunc(served, func(a, b *apiextensionsv1.CustomResourceDefinitionVersion) int {
		return version.CompareKubeAwareVersionStrings(a.Name, b.Name)
	})
	var findings []Finding
	for i, from := range served {
		for _, to := range served[i+1:] {
			findings = append(findings, compare(strings.Join([]string{from.Name, to.Name}, " -> "), schemaOf(from), schemaOf(to))...)
		}
	}
	return findings
}

// converts tells whether a webhook converts between the versions of a CRD.
func converts(crd *definition) bool {
	return crd.Spec.Conversion != nil && crd.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter
}
