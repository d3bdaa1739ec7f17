package registryv1

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// eachWebhook calls f with every webhook of one of the types, or with all of them.
func eachWebhook(b *bundle.Bundle, only v1alpha1.WebhookAdmissionType, f func(i int, w v1alpha1.WebhookDescription)) {
	for i, w := range b.CSV.Spec.WebhookDefinitions {
		if only == "" || w.Type == only {
			f(i, w)
		}
	}
}

// conversionNeedsAllNamespaces: a CRD has one conversion webhook for the whole cluster, so its operator cannot be there twice.
func conversionNeedsAllNamespaces(p *problems, b *bundle.Bundle) {
	var others []string
	for _, mode := range b.CSV.Spec.InstallModes {
		if mode.Supported && mode.Type != v1alpha1.InstallModeTypeAllNamespaces {
			others = append(others, string(mode.Type))
		}
	}
	if len(others) == 0 {
		return
	}
	eachWebhook(b, v1alpha1.ConversionWebhook, func(i int, w v1alpha1.WebhookDescription) {
		p.csv(b, webhookField(i)+".type", "the conversion webhook %s needs AllNamespaces as the only supported install mode, because CRDs are "+
			"converted for the whole cluster; do not support %s", w.GenerateName, strings.Join(others, ", "))
	})
}

func webhooksServed(p *problems, b *bundle.Bundle) {
	eachWebhook(b, "", func(i int, w v1alpha1.WebhookDescription) {
		checkServedBy(p, b, webhookField(i)+".deploymentName", w.DeploymentName)
	})
}

func uniqueWebhooks(p *problems, b *bundle.Bundle) {
	type key struct {
		webhook v1alpha1.WebhookAdmissionType
		name    string
	}
	seen := map[key]bool{}
	eachWebhook(b, "", func(i int, w v1alpha1.WebhookDescription) {
		// Names that differ in a hyphen at the end are those of the same object.
		name := bundle.ExtensionWebhookName(w)
		if seen[key{w.Type, name}] {
			p.csv(b, webhookField(i)+".generateName", "%q is that of an earlier %s; give each its own", w.GenerateName, w.Type)
		}
		seen[key{w.Type, name}] = true
	})
}

func webhookNames(p *problems, b *bundle.Bundle) {
	eachWebhook(b, "", func(i int, w v1alpha1.WebhookDescription) {
		for _, message := range validation.IsDNS1123Subdomain(bundle.ExtensionWebhookName(w)) {
			p.csv(b, webhookField(i)+".generateName", "%q cannot be the name of a webhook: %s", w.GenerateName, message)
		}
	})
}

func oneConversionEach(p *problems, b *bundle.Bundle) {
	by := map[string]string{}
	eachWebhook(b, v1alpha1.ConversionWebhook, func(i int, w v1alpha1.WebhookDescription) {
		for _, crd := range w.ConversionCRDs {
			if other, taken := by[crd]; taken {
				p.csv(b, webhookField(i)+".conversionCRDs", "the CRD %q is converted by webhook %s already; a CRD has one conversion webhook", crd, other)
			}
			by[crd] = w.GenerateName
		}
	})
}

func convertedCRDsOwned(p *problems, b *bundle.Bundle) {
	eachWebhook(b, v1alpha1.ConversionWebhook, func(i int, w v1alpha1.WebhookDescription) {
		if len(w.ConversionCRDs) == 0 {
			p.csv(b, webhookField(i)+".conversionCRDs", "a conversion webhook has to name the CRDs that it converts")
		}
		for _, crd := range w.ConversionCRDs {
			if !b.CSV.OwnsCRD(crd) {
				p.csv(b, webhookField(i)+".conversionCRDs", "the CRD %q is not owned; add it to spec.customresourcedefinitions.owned", crd)
			}
		}
	})
}

func webhookRules(p *problems, b *bundle.Bundle) {
	eachWebhook(b, "", func(i int, w v1alpha1.WebhookDescription) {
		if err := bundle.CheckWebhookRules(w); err != nil {
			p.csv(b, webhookField(i)+".rules", "%w", err)
		}
	})
}

func webhookTypes(p *problems, b *bundle.Bundle) {
	eachWebhook(b, "", func(i int, w v1alpha1.WebhookDescription) {
		switch w.Type {
		case v1alpha1.ValidatingAdmissionWebhook, v1alpha1.MutatingAdmissionWebhook, v1alpha1.ConversionWebhook:
		default:
			p.csv(b, webhookField(i)+".type", "%q is not known; use %s, %s or %s", w.Type,
				v1alpha1.ValidatingAdmissionWebhook, v1alpha1.MutatingAdmissionWebhook, v1alpha1.ConversionWebhook)
		}
	})
}

// convertibleCRDs: the API server converts no objects of a CRD that keeps fields that it does not know.
func convertibleCRDs(p *problems, b *bundle.Bundle) {
	converted := map[string]string{}
	eachWebhook(b, v1alpha1.ConversionWebhook, func(_ int, w v1alpha1.WebhookDescription) {
		for _, crd := range w.ConversionCRDs {
			converted[crd] = w.GenerateName
		}
	})
	for _, crd := range crds(b) {
		keeps, _, _ := unstructured.NestedBool(crd.Object, "spec", "preserveUnknownFields")
		if webhook := converted[crd.GetName()]; keeps && webhook != "" {
			p.add(crdKind+" "+crd.GetName(), "spec.preserveUnknownFields", "is true, so that webhook %s cannot convert it; set it to false", webhook)
		}
	}
}
