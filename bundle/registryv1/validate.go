package registryv1

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
)

const (
	crdKind = "CustomResourceDefinition"
	// crdVersion is the only version of that kind that clusters have served since Kubernetes 1.22.
	crdVersion = "apiextensions.k8s.io/v1"
	// propertiesAnnotation of a ClusterServiceVersion holds properties of its bundle, as a JSON list.
	propertiesAnnotation = "olm.properties"
)

// Validate returns why a bundle cannot be installed, as an *InvalidError with all reasons; nil when it can. It refuses what the published
// implementation refuses, and besides what no cluster would take or what has no clear meaning.
func Validate(b *bundle.Bundle) error {
	p := &problems{}
	validateDeployments(p, b)
	validateCRDs(p, b)
	validateManifests(p, b)
	validateWebhooks(p, b)
	for i, d := range b.CSV.Spec.APIServiceDefinitions.Owned {
		p.servedBy(b, fmt.Sprintf("spec.apiservicedefinitions.owned[%d].deploymentName", i), d.DeploymentName)
		if err := bundle.CheckAPIService(d); err != nil {
			p.list = append(p.list, err)
		}
	}
	validateInstallation(p, b)
	if len(p.list) > 0 {
		return &InvalidError{Bundle: b.Name, Problems: p.list}
	}
	return nil
}

// problems collects what is wrong with a bundle.
type problems struct {
	list []error
}

// add adds a problem with an object of the bundle. The message says what is wrong and what to do.
func (p *problems) add(object, field, message string, args ...any) {
	place := object
	if field != "" {
		place += ": " + field
	}
	p.list = append(p.list, fmt.Errorf("%s: %w", place, fmt.Errorf(message, args...)))
}

// csv adds a problem with the ClusterServiceVersion.
func (p *problems) csv(b *bundle.Bundle, field, message string, args ...any) {
	p.add(v1alpha1.ClusterServiceVersionKind+" "+b.Name, field, message, args...)
}

// servedBy checks that a Deployment exists.
func (p *problems) servedBy(b *bundle.Bundle, field, deployment string) {
	deployments := b.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs
	if !slices.ContainsFunc(deployments, func(d v1alpha1.StrategyDeploymentSpec) bool { return d.Name == deployment }) {
		p.csv(b, field, "%q is not a Deployment of the install strategy; name the one that serves it", deployment)
	}
}

// validateDeployments: each has a name of its own, and those that serve have a selector that a Service can have, and a name that one can be
// made from.
func validateDeployments(p *problems, b *bundle.Bundle) {
	serving := bundle.ServingDeployments(b.CSV)
	seen := map[string]bool{}
	for i, d := range b.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		field := fmt.Sprintf("spec.install.spec.deployments[%d]", i)
		if seen[d.Name] {
			p.csv(b, field+".name", "%q is the name of an earlier Deployment; give each its own", d.Name)
		}
		seen[d.Name] = true
		for _, message := range validation.IsDNS1123Subdomain(d.Name) {
			p.csv(b, field+".name", "%q cannot be the name of a Deployment: %s", d.Name, message)
		}
		if !slices.Contains(serving, d.Name) {
			continue
		}
		if d.Spec.Selector == nil || len(d.Spec.Selector.MatchLabels) == 0 {
			p.csv(b, field+".spec.selector", "Deployment %s serves webhooks or APIs, and its selector has no matchLabels, which the Service in front of it needs; add them", d.Name)
		}
		name := bundle.ServingServiceName(d.Name)
		for _, message := range validation.IsDNS1035Label(name) {
			p.csv(b, field+".name", "Deployment %s serves webhooks or APIs, and the Service in front of it cannot be named %s: %s", d.Name, name, message)
		}
	}
}

// validateCRDs: every owned CRD is there, and once. Operators define nothing in the API groups that they are managed by, and in those of
// Kubernetes itself. The API server converts no objects of a CRD that keeps fields that it does not know.
func validateCRDs(p *problems, b *bundle.Bundle) {
	converted := map[string]string{}
	for _, w := range b.CSV.Spec.WebhookDefinitions {
		if w.Type == v1alpha1.ConversionWebhook {
			for _, crd := range w.ConversionCRDs {
				converted[crd] = w.GenerateName
			}
		}
	}
	have := map[string]bool{}
	for _, crd := range crds(b) {
		name := crd.GetName()
		if have[name] {
			p.add(crdKind+" "+name, "", "another manifest of the bundle has the same name; keep one of them")
		}
		have[name] = true
		if err := bundle.CheckCRDName(name); err != nil {
			p.list = append(p.list, err)
		}
		if version := crd.GetAPIVersion(); version != crdVersion {
			p.add(crdKind+" "+name, "apiVersion", "no cluster since Kubernetes 1.22 serves %s; convert the CRD to %s", version, crdVersion)
		}
		keeps, _, _ := unstructured.NestedBool(crd.Object, "spec", "preserveUnknownFields")
		if webhook := converted[name]; keeps && webhook != "" {
			p.add(crdKind+" "+name, "spec.preserveUnknownFields", "is true, so that webhook %s cannot convert it; set it to false", webhook)
		}
	}
	for i, owned := range b.CSV.Spec.CustomResourceDefinitions.Owned {
		if !have[owned.Name] {
			p.csv(b, fmt.Sprintf("spec.customresourcedefinitions.owned[%d].name", i), "the CRD %q is not in the bundle; add its manifest, or do not own it", owned.Name)
		}
	}
}

// validateManifests: bundles have some kinds alone, and no two manifests that would become the same object, in the namespace of the
// installation or outside of namespaces.
func validateManifests(p *problems, b *bundle.Bundle) {
	kinds := bundle.SupportedKinds()
	seen := map[string]bool{}
	for _, object := range b.Objects {
		about := object.GetKind() + " " + object.GetName()
		if !slices.Contains(kinds, object.GetKind()) {
			p.add(about, "", "this kind is not supported in bundles; supported are %s", strings.Join(kinds, ", "))
		}
		key := object.GroupVersionKind().GroupKind().String() + " " + object.GetName()
		if seen[key] && object.GetKind() != crdKind {
			p.add(about, "", "another manifest of the bundle has the same kind and name; keep one of them")
		}
		seen[key] = true
	}
}

// validateWebhooks: a CRD has one conversion webhook for the whole cluster, so its operator cannot be installed twice.
func validateWebhooks(p *problems, b *bundle.Bundle) {
	var others []string // install modes besides AllNamespaces
	for _, mode := range b.CSV.Spec.InstallModes {
		if mode.Supported && mode.Type != v1alpha1.InstallModeTypeAllNamespaces {
			others = append(others, string(mode.Type))
		}
	}
	seen, by := map[string]bool{}, map[string]string{}
	for i, w := range b.CSV.Spec.WebhookDefinitions {
		field := fmt.Sprintf("spec.webhookdefinitions[%d]", i)
		p.servedBy(b, field+".deploymentName", w.DeploymentName)
		name := bundle.ExtensionWebhookName(w) // names that differ in a hyphen at the end are those of the same object
		if seen[string(w.Type)+" "+name] {
			p.csv(b, field+".generateName", "%q is that of an earlier %s; give each its own", w.GenerateName, w.Type)
		}
		seen[string(w.Type)+" "+name] = true
		for _, message := range validation.IsDNS1123Subdomain(name) {
			p.csv(b, field+".generateName", "%q cannot be the name of a webhook: %s", w.GenerateName, message)
		}
		if err := bundle.CheckWebhookRules(w); err != nil {
			p.csv(b, field+".rules", "%w", err)
		}
		switch w.Type {
		case v1alpha1.ValidatingAdmissionWebhook, v1alpha1.MutatingAdmissionWebhook:
			continue
		case v1alpha1.ConversionWebhook:
		default:
			p.csv(b, field+".type", "%q is not known; use %s, %s or %s", w.Type,
				v1alpha1.ValidatingAdmissionWebhook, v1alpha1.MutatingAdmissionWebhook, v1alpha1.ConversionWebhook)
			continue
		}
		if len(others) > 0 {
			p.csv(b, field+".type", "the conversion webhook %s needs AllNamespaces as the only supported install mode, because CRDs are "+
				"converted for the whole cluster; do not support %s", w.GenerateName, strings.Join(others, ", "))
		}
		if len(w.ConversionCRDs) == 0 {
			p.csv(b, field+".conversionCRDs", "a conversion webhook has to name the CRDs that it converts")
		}
		for _, crd := range w.ConversionCRDs {
			if other, taken := by[crd]; taken {
				p.csv(b, field+".conversionCRDs", "the CRD %q is converted by webhook %s already; a CRD has one conversion webhook", crd, other)
			}
			by[crd] = w.GenerateName
			if !b.CSV.OwnsCRD(crd) {
				p.csv(b, field+".conversionCRDs", "the CRD %q is not owned; add it to spec.customresourcedefinitions.owned", crd)
			}
		}
	}
}

// validateInstallation: without a supported install mode, or with an install strategy that is not known, nothing can be installed. A bundle that
// names no strategy means the only one, with whatever Deployments it has: one that brings CRDs alone has none. A bundle whose manifests are in
// its catalog has no annotations, and the catalog knows its package. Properties that cannot be read could be those that keep a cluster from
// being upgraded too far.
func validateInstallation(p *problems, b *bundle.Bundle) {
	if b.Package == "" && b.Annotations != nil {
		p.add("metadata/annotations.yaml", bundle.AnnotationPackage, "the bundle names no package; add the annotation")
	}
	modes, err := v1alpha1.NewInstallModeSet(b.CSV.Spec.InstallModes)
	supported := false
	for _, yes := range modes {
		supported = supported || yes
	}
	switch {
	case err != nil:
		p.csv(b, "spec.installModes", "%w", err)
	case !supported:
		p.csv(b, "spec.installModes", "no install mode is supported, so the operator cannot be installed; support at least one")
	}
	if name := b.CSV.Spec.InstallStrategy.StrategyName; name != "" && name != v1alpha1.InstallStrategyNameDeployment {
		p.csv(b, "spec.install.strategy", "%q is not known; the only strategy is %q", name, v1alpha1.InstallStrategyNameDeployment)
	}
	if _, err := annotatedProperties(b); err != nil {
		p.csv(b, "metadata.annotations["+propertiesAnnotation+"]", "%w; it has to be a JSON list of type and value", err)
	}
}

func annotatedProperties(b *bundle.Bundle) ([]catalog.Property, error) {
	text := b.CSV.Annotations[propertiesAnnotation]
	if text == "" {
		return nil, nil
	}
	var properties []catalog.Property
	if err := json.Unmarshal([]byte(text), &properties); err != nil {
		return nil, err
	}
	for i, property := range properties {
		if property.Type == "" || len(property.Value) == 0 {
			return nil, fmt.Errorf("entry %d has no type or no value", i)
		}
	}
	return properties, nil
}

// crds are the CRDs of a bundle.
func crds(b *bundle.Bundle) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, object := range b.Objects {
		if object.GetKind() == crdKind {
			out = append(out, object)
		}
	}
	return out
}

// InvalidError says why a bundle cannot be installed: all reasons, not only the first. Only another bundle helps.
type InvalidError struct {
	// Bundle is the name of the bundle.
	Bundle string
	// Problems are the reasons, each with the place in the bundle and what its author has to do.
	Problems []error
}

// Error has one line for each problem.
func (e *InvalidError) Error() string {
	lines := make([]string, 0, len(e.Problems))
	for _, problem := range e.Problems {
		lines = append(lines, problem.Error())
	}
	return fmt.Sprintf("invalid bundle %s: %s", e.Bundle, strings.Join(lines, "\n"))
}

// Unwrap gives errors.Is and errors.As the problems.
func (e *InvalidError) Unwrap() []error { return e.Problems }

// ConfigError says why a configuration does not fit its bundle. Only another configuration or another bundle helps.
type ConfigError struct {
	// Problems are the reasons, each with the field that it is about.
	Problems []string
}

// Error has the words that clients of ClusterExtensions look for.
func (e *ConfigError) Error() string {
	const prefix = "invalid ClusterExtension configuration: invalid configuration: "
	if len(e.Problems) == 1 {
		return prefix + e.Problems[0]
	}
	return prefix + "multiple errors found:\n  - " + strings.Join(e.Problems, "\n  - ")
}
