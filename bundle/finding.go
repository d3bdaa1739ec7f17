package bundle

import (
	"errors"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/catalog"
)

// Finding is something about a bundle that its author should know.
type Finding struct {
	// Severity is catalog.Error for what cannot be installed, catalog.Warning for what probably does not do what it should.
	Severity catalog.Severity `json:"severity"`
	// Rule is the stable name of the rule.
	Rule Rule `json:"rule"`
	// Object is the kind and name of the manifest, or the bundle itself.
	Object string `json:"object"`
	// Field is the place in the object, empty when it is about all of it.
	Field string `json:"field,omitempty"`
	// Message says what is wrong and what to do.
	Message string `json:"message"`
}

// String is the finding on one line.
func (f Finding) String() string {
	place := f.Object
	if f.Field != "" {
		place += ": " + f.Field
	}
	return fmt.Sprintf("%s: %s: %s", f.Severity, place, f.Message)
}

// Rule is the stable name of a rule.
type Rule string

// The rules of Validate.
const (
	RulePackage        Rule = "package-missing"
	RuleChannels       Rule = "channels-missing" // a warning
	RuleDependency     Rule = "dependency"
	RuleProperties     Rule = "properties-annotation-form" // a warning
	RuleCSVName        Rule = "csv-name"
	RuleReplaces       Rule = "csv-replaces"
	RuleMinKubeVersion Rule = "csv-min-kube-version"
	RuleSkipRange      Rule = "csv-skip-range" // a warning
	RuleInstallModes   Rule = "csv-install-modes"
	RuleStrategy       Rule = "csv-install-strategy"
	RuleNoDeployments  Rule = "csv-no-deployments" // a warning
	RuleDeployment     Rule = "csv-deployment"
	RuleAccount        Rule = "csv-service-account" // a warning when it is missing
	RulePermission     Rule = "csv-permission"
	RuleServedBy       Rule = "csv-served-by"
	RuleWebhook        Rule = "csv-webhook"
	RuleWebhookRules   Rule = "csv-webhook-rules"
	RuleWebhookName    Rule = "csv-webhook-name" // a warning when it is there twice
	RuleConversion     Rule = "csv-webhook-conversion"
	RuleOwnedCRD       Rule = "csv-owned-crd"
	RuleRequiredCRD    Rule = "csv-required-crd"
	RuleCRDName        Rule = "crd-name"
	RuleCRDGroup       Rule = "crd-lifecycle-group"
	RuleCRDVersion     Rule = "crd-api-version" // a warning
	RuleCRDNotOwned    Rule = "crd-not-owned"   // a warning
	RuleObjectTwice    Rule = "object-duplicate"
	RuleObjectName     Rule = "object-name"
)

// Findings are in the order of the rules and of the bundle.
type Findings []Finding

// Errors are the findings that forbid installation.
func (f Findings) Errors() Findings { return f.with(catalog.Error) }

// Warnings are the other findings.
func (f Findings) Warnings() Findings { return f.with(catalog.Warning) }

func (f Findings) with(severity catalog.Severity) Findings {
	var out Findings
	for _, finding := range f {
		if finding.Severity == severity {
			out = append(out, finding)
		}
	}
	return out
}

// Err is an error with all findings that forbid installation, nil if there are none.
func (f Findings) Err() error {
	var lines []string
	for _, finding := range f.Errors() {
		lines = append(lines, finding.String())
	}
	if len(lines) == 0 {
		return nil
	}
	return errors.New(strings.Join(lines, "\n"))
}

// recorder collects findings about one object.
type recorder struct {
	object   string
	findings *Findings
}

func (r recorder) err(rule Rule, field, format string, args ...any) {
	*r.findings = append(*r.findings, Finding{catalog.Error, rule, r.object, field, fmt.Sprintf(format, args...)})
}

func (r recorder) warn(rule Rule, field, format string, args ...any) {
	*r.findings = append(*r.findings, Finding{catalog.Warning, rule, r.object, field, fmt.Sprintf(format, args...)})
}

// about is a recorder for another object.
func (r recorder) about(format string, args ...any) recorder {
	return recorder{object: fmt.Sprintf(format, args...), findings: r.findings}
}
