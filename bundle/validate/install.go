package validate

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
)

// metadataRules are those of installation that the validator format checks more thoroughly.
var metadataRules = []bundle.Rule{bundle.RulePackage, bundle.RuleChannels, bundle.RuleDependency}

// checkInstall adopts what installation finds.
func checkInstall(r recorder) {
	if r.csv == nil {
		return
	}
	for _, f := range bundle.Validate(r.Bundle) {
		if slices.Contains(metadataRules, f.Rule) {
			continue
		}
		at := place{file: r.files[f.Object], object: f.Object, field: f.Field}
		message, fix, _ := strings.Cut(f.Message, "; ")
		if fix == "" {
			fix = remedies[f.Rule]
		}
		r.add(f.Severity, f.Rule, at, message, fix)
	}
}

// remedies are what to do about the findings whose own words do not say so.
var remedies = map[bundle.Rule]string{
	bundle.RuleCSVName:        "rename it",
	bundle.RuleReplaces:       "correct the name",
	bundle.RuleMinKubeVersion: "write it like 1.25.0",
	bundle.RuleSkipRange:      "write it like >=1.0.0 <1.2.0",
	bundle.RuleInstallModes:   "keep one of them",
	bundle.RuleNoDeployments:  "add the Deployment of the operator",
	bundle.RuleDeployment:     "correct it",
	bundle.RuleAccount:        "correct the name of the account",
	bundle.RulePermission:     "complete the rule",
	bundle.RuleServedBy:       "name one of the Deployments",
	bundle.RuleWebhook:        "correct the webhook",
	bundle.RuleWebhookRules:   "name the API groups that the webhook is about",
	bundle.RuleWebhookName:    "rename the webhook",
	bundle.RuleConversion:     "name the CRDs, and support AllNamespaces alone",
	bundle.RuleOwnedCRD:       "correct the name, or add the CRD",
	bundle.RuleRequiredCRD:    "write the name as plural, dot and group",
	bundle.RuleCRDName:        "rename the CRD, or correct spec.names.plural or spec.group",
	bundle.RuleObjectName:     "rename the object",
}

// checkV1 finds what is only possible with Subscriptions, and not with ClusterExtensions.
func checkV1(r recorder) {
	if r.csv == nil {
		return
	}
	at := r.csvPlace()
	if len(r.csv.Spec.APIServiceDefinitions.Owned) > 0 {
		r.err(RuleV1APIService, at.in("spec.apiservicedefinitions.owned"), "a ClusterExtension cannot install aggregated APIs", "provide the APIs as CRDs")
	}
	modes, err := v1alpha1.NewInstallModeSet(r.csv.Spec.InstallModes)
	if err == nil && modes[v1alpha1.InstallModeTypeMultiNamespace] && !modes[v1alpha1.InstallModeTypeAllNamespaces] &&
		!modes[v1alpha1.InstallModeTypeSingleNamespace] && !modes[v1alpha1.InstallModeTypeOwnNamespace] {
		r.err(RuleV1InstallModes, at.in("spec.installModes"), "a ClusterExtension cannot watch several namespaces", "support AllNamespaces, SingleNamespace or OwnNamespace")
	}
	seen := map[string]bool{}
	for i, d := range r.csv.Spec.WebhookDefinitions {
		key := string(d.Type) + " " + d.GenerateName
		if seen[key] {
			r.err(RuleV1WebhookName, at.in("spec.webhookdefinitions[%d].generateName", i), fmt.Sprintf("%s is that of an earlier %s", d.GenerateName, d.Type), "give each its own")
		}
		seen[key] = true
	}
}

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
	named := place{file: r.metadataFile("annotations"), field: "annotations[" + bundle.AnnotationPackage + "]"}
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
