package bundle

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
)

func checkWebhooks(r recorder, csv *v1alpha1.ClusterServiceVersion) {
	seen := map[string]bool{}
	for i, description := range csv.Spec.WebhookDefinitions {
		field := fmt.Sprintf("spec.webhookdefinitions[%d]", i)
		checkServedBy(r, csv, field+".deploymentName", description.DeploymentName)
		if err := CheckWebhookRules(description); err != nil {
			r.err(RuleWebhookRules, field+".rules", "%v", err)
		}
		for _, message := range validation.IsDNS1123Subdomain(description.GenerateName) { // longer than a label may be: that is cut
			r.err(RuleWebhookName, field+".generateName", "%s", message)
		}
		key := string(description.Type) + " " + description.GenerateName
		if seen[key] {
			r.warn(RuleWebhookName, field+".generateName", "%s is that of an earlier %s; give each its own", description.GenerateName, description.Type)
		}
		seen[key] = true
		switch description.Type {
		case v1alpha1.ValidatingAdmissionWebhook, v1alpha1.MutatingAdmissionWebhook, v1alpha1.ConversionWebhook:
		default:
			r.err(RuleWebhook, field+".type", "%q is not known; use %s, %s or %s", description.Type,
				v1alpha1.ValidatingAdmissionWebhook, v1alpha1.MutatingAdmissionWebhook, v1alpha1.ConversionWebhook)
		}
	}
	if err := checkConversions(csv); err != nil {
		r.err(RuleConversion, "spec.webhookdefinitions", "%v", err)
	}
}

// checkCRDs compares the CRDs of the bundle with those that the ClusterServiceVersion describes.
func checkCRDs(r recorder, b *Bundle) {
	csv := r.about("%s %s", v1alpha1.ClusterServiceVersionKind, b.Name)
	crds := map[string]*unstructured.Unstructured{}
	for _, object := range b.Objects {
		if object.GetKind() != crdKind {
			continue
		}
		name, about := object.GetName(), r.about("%s %s", crdKind, object.GetName())
		crds[name] = object
		plural, _, _ := unstructured.NestedString(object.Object, "spec", "names", "plural")
		group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
		if _, named, dotted := strings.Cut(name, "."); dotted && forbiddenGroup(named) != nil {
			about.err(RuleCRDGroup, "spec.group", "%v", forbiddenGroup(named))
		}
		if want := plural + "." + group; name != want {
			about.err(RuleCRDName, "metadata.name", "has to be <plural>.<group>, which is %q", want)
		}
		if version := object.GetAPIVersion(); version != "apiextensions.k8s.io/v1" {
			about.warn(RuleCRDVersion, "apiVersion", "%s is not served by Kubernetes 1.22 and later; convert the CRD to apiextensions.k8s.io/v1", version)
		}
		if !b.CSV.OwnsCRD(name) {
			about.warn(RuleCRDNotOwned, "", "the ClusterServiceVersion does not own it; add it to spec.customresourcedefinitions.owned")
		}
	}
	owned, required := b.CSV.Spec.CustomResourceDefinitions.Owned, b.CSV.Spec.CustomResourceDefinitions.Required
	for i, description := range owned {
		field := fmt.Sprintf("spec.customresourcedefinitions.owned[%d]", i)
		_, group, err := description.PluralAndGroup()
		if err != nil {
			csv.err(RuleOwnedCRD, field+".name", "%v", err)
			continue
		}
		crd, ok := crds[description.Name]
		if forbidden := forbiddenGroup(group); forbidden != nil && !ok {
			csv.err(RuleCRDGroup, field+".name", "%v", forbidden)
			continue
		}
		if !ok {
			csv.err(RuleOwnedCRD, field, "the CRD %s is not in the bundle; add its manifest", description.Name)
			continue
		}
		want := catalog.GVK{Group: group, Version: description.Version, Kind: description.Kind}
		if have := crdAPIs(crd); !slices.Contains(have, want) {
			csv.err(RuleOwnedCRD, field, "the CRD %s in the bundle does not define %s; it defines %v", description.Name, want, have)
		}
	}
	for i, description := range required {
		if _, _, err := description.PluralAndGroup(); err != nil {
			csv.err(RuleRequiredCRD, fmt.Sprintf("spec.customresourcedefinitions.required[%d].name", i), "%v", err)
		}
	}
}
