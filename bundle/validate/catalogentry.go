package validate

import (
	"slices"
	"strings"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
)

// entryRules are the rules of catalogs that a bundle can break by what its metadata say. The others are about what a bundle is put
// into, or are rules here as well.
var entryRules = []catalog.Rule{
	catalog.RulePackageName, catalog.RuleBundleProperty, catalog.RuleBundlePackageProperty, catalog.RuleBundleObject,
	catalog.RuleBundleCSVMetadata, catalog.RuleBundleRequiredRange,
}

// checkCatalogEntry makes the olm.bundle of the bundle and judges that, so that what is valid here can be put into a catalog. What
// already has the wrong form is left to the validator format.
func checkCatalogEntry(r recorder) {
	broken := slices.ContainsFunc(*r.findings, func(f Finding) bool { return f.Validator == formatName && f.Severity == catalog.Error })
	if r.csv == nil || r.Bundle.Package == "" || broken {
		return
	}
	converted, err := r.Bundle.ToCatalogWithCSV("")
	if err != nil {
		message, fix, _ := strings.Cut(err.Error(), "; ")
		r.err(RuleCatalog, place{file: r.metadataFile("properties"), field: "properties"}, message, fix)
		return
	}
	if problem := r.Bundle.VersionProblem(); problem != "" {
		message, fix, _ := strings.Cut(problem, "; ")
		r.warn(RuleCatalog, r.csvPlace().in("spec.version"), "it cannot be rendered into a catalog: "+message, fix)
	}
	const channel = "channel"
	c := &catalog.Catalog{
		Packages: []catalog.Package{{Schema: catalog.SchemaPackage, Name: r.Bundle.Package, DefaultChannel: channel}},
		Channels: []catalog.Channel{{Schema: catalog.SchemaChannel, Package: r.Bundle.Package, Name: channel, Entries: []catalog.Entry{{Name: r.Bundle.Name}}}},
		Bundles:  []catalog.Bundle{converted},
	}
	named := place{file: r.metadataFile("annotations"), field: annotation(bundle.AnnotationPackage)}
	for _, p := range catalog.Validate(c) {
		at := place{file: r.metadataFile("properties"), field: "properties"}
		if p.Rule == catalog.RulePackageName {
			at = named
		}
		switch {
		case p.Rule == catalog.RulePackageCapitals:
			r.warn(RuleCatalog, named, p.Message, p.Fix)
		case p.Severity == catalog.Error && slices.Contains(entryRules, p.Rule):
			r.err(RuleCatalog, at, "no catalog can hold the bundle: "+p.Message, p.Fix)
		}
	}
}
