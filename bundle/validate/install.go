package validate

import (
	"slices"
	"strings"

	"fairlead.dev/fairlead/bundle"
)

// metadataRules are those of installation that the validator format checks more thoroughly.
var metadataRules = []bundle.Rule{bundle.RulePackage, bundle.RuleChannels, bundle.RuleDependency}

// checkInstall takes over what installation finds.
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
