package registryv1

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
)

const (
	crdKind = "CustomResourceDefinition"
	// crdVersion is the only version of that kind that clusters have served since Kubernetes 1.22.
	crdVersion = "apiextensions.k8s.io/v1"
	// propertiesAnnotation of a ClusterServiceVersion holds properties of its bundle, as a JSON list.
	propertiesAnnotation = "olm.properties"
)

func uniqueDeployments(p *problems, b *bundle.Bundle) {
	seen := map[string]bool{}
	for i, d := range b.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		if seen[d.Name] {
			p.csv(b, deploymentField(i)+".name", "%q is the name of an earlier Deployment; give each its own", d.Name)
		}
		seen[d.Name] = true
	}
}

func deploymentNames(p *problems, b *bundle.Bundle) {
	for i, d := range b.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		for _, message := range validation.IsDNS1123Subdomain(d.Name) {
			p.csv(b, deploymentField(i)+".name", "%q cannot be the name of a Deployment: %s", d.Name, message)
		}
	}
}

func uniqueCRDs(p *problems, b *bundle.Bundle) {
	seen := map[string]bool{}
	for _, crd := range crds(b) {
		if seen[crd.GetName()] {
			p.add(crdKind+" "+crd.GetName(), "", "another manifest of the bundle has the same name; keep one of them")
		}
		seen[crd.GetName()] = true
	}
}

func ownedCRDsPresent(p *problems, b *bundle.Bundle) {
	have := map[string]bool{}
	for _, crd := range crds(b) {
		have[crd.GetName()] = true
	}
	for i, owned := range b.CSV.Spec.CustomResourceDefinitions.Owned {
		if !have[owned.Name] {
			p.csv(b, fmt.Sprintf("spec.customresourcedefinitions.owned[%d].name", i), "the CRD %q is not in the bundle; add its manifest, or do not own it", owned.Name)
		}
	}
}

// packageNamed: a bundle whose manifests are in its catalog has no annotations, and the catalog knows its package.
func packageNamed(p *problems, b *bundle.Bundle) {
	if b.Package == "" && b.Annotations != nil {
		p.add("metadata/annotations.yaml", bundle.AnnotationPackage, "the bundle names no package; add the annotation")
	}
}

func supportedKinds(p *problems, b *bundle.Bundle) {
	kinds := bundle.SupportedKinds()
	for _, object := range b.Objects {
		if !slices.Contains(kinds, object.GetKind()) {
			p.add(object.GetKind()+" "+object.GetName(), "", "this kind is not supported in bundles; supported are %s", strings.Join(kinds, ", "))
		}
	}
}

// uniqueObjects finds manifests that would become the same object, in the namespace of the installation or outside of namespaces. CRDs
// are looked at by uniqueCRDs.
func uniqueObjects(p *problems, b *bundle.Bundle) {
	seen := map[string]bool{}
	for _, object := range b.Objects {
		key := object.GroupVersionKind().GroupKind().String() + " " + object.GetName()
		if seen[key] && object.GetKind() != crdKind {
			p.add(object.GetKind()+" "+object.GetName(), "", "another manifest of the bundle has the same kind and name; keep one of them")
		}
		seen[key] = true
	}
}

// crdGroups: operators define and own nothing in the API groups that they are managed by, and in those of Kubernetes itself.
func crdGroups(p *problems, b *bundle.Bundle) {
	for _, crd := range crds(b) {
		if err := bundle.CheckCRDName(crd.GetName()); err != nil {
			p.list = append(p.list, err)
		}
	}
	for _, d := range b.CSV.Spec.APIServiceDefinitions.Owned {
		if err := bundle.CheckAPIService(d); err != nil {
			p.list = append(p.list, err)
		}
	}
}

func servedCRDVersions(p *problems, b *bundle.Bundle) {
	for _, crd := range crds(b) {
		if version := crd.GetAPIVersion(); version != crdVersion {
			p.add(crdKind+" "+crd.GetName(), "apiVersion", "no cluster since Kubernetes 1.22 serves %s; convert the CRD to %s", version, crdVersion)
		}
	}
}

// installable: without a supported install mode, or with an install strategy that is not known, nothing can be installed. A bundle that names no
// strategy means the only one, with whatever Deployments it has: one that brings CRDs alone has none.
func installable(p *problems, b *bundle.Bundle) {
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
}

// readableProperties: what cannot be read could be what keeps a cluster from being upgraded too far.
func readableProperties(p *problems, b *bundle.Bundle) {
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
