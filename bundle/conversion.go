package bundle

import (
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// defaultConversionPath is the URL path of a conversion webhook that names none.
const defaultConversionPath = "/"

// Conversion is the conversion webhook of one CRD.
type Conversion struct {
	// CRD is the name of the CRD.
	CRD string
	// GenerateName is that of the webhook description.
	GenerateName string
	// Spec takes the place of the CRD's spec.conversion.
	Spec *apiextensionsv1.CustomResourceConversion
}

// Conversions returns the conversion webhooks of a ClusterServiceVersion, one for each CRD, in its order. It refuses
// those of an operator that can be installed more than once, because a CRD has one conversion webhook for the cluster.
func Conversions(csv *v1alpha1.ClusterServiceVersion, o WebhookOptions) ([]Conversion, error) {
	if err := checkConversions(csv); err != nil {
		return nil, fmt.Errorf("render conversion webhooks of ClusterServiceVersion %s: %w", csv.Name, err)
	}
	var out []Conversion
	for i := range csv.Spec.WebhookDefinitions {
		description := csv.Spec.WebhookDefinitions[i].DeepCopy()
		if description.Type != v1alpha1.ConversionWebhook {
			continue
		}
		for _, crd := range description.ConversionCRDs {
			client := clientConfig(csv, description, o)
			path := defaultConversionPath
			if description.WebhookPath != nil {
				path = *description.WebhookPath
			}
			out = append(out, Conversion{CRD: crd, GenerateName: description.GenerateName, Spec: &apiextensionsv1.CustomResourceConversion{
				Strategy: apiextensionsv1.WebhookConverter,
				Webhook: &apiextensionsv1.WebhookConversion{
					ClientConfig: &apiextensionsv1.WebhookClientConfig{
						Service: &apiextensionsv1.ServiceReference{
							Namespace: client.Service.Namespace,
							Name:      client.Service.Name,
							Path:      &path,
							Port:      client.Service.Port,
						},
						CABundle: client.CABundle,
					},
					ConversionReviewVersions: description.AdmissionReviewVersions,
				},
			}})
		}
	}
	return out, nil
}

// Check says whether the CRD can be converted by a webhook.
func (c Conversion) Check(crd *apiextensionsv1.CustomResourceDefinition) error {
	if crd.Spec.PreserveUnknownFields {
		return fmt.Errorf("convert CRD %s with webhook %s: spec.preserveUnknownFields is true; the CRD has to set it to false",
			crd.Name, c.GenerateName)
	}
	return nil
}

// checkConversions checks the conversion webhooks against the rest of the ClusterServiceVersion.
func checkConversions(csv *v1alpha1.ClusterServiceVersion) error {
	by := map[string]string{}
	for _, description := range csv.Spec.WebhookDefinitions {
		if description.Type != v1alpha1.ConversionWebhook {
			continue
		}
		if err := checkConversion(csv, description); err != nil {
			return fmt.Errorf("webhook %s: %w", description.GenerateName, err)
		}
		for _, crd := range description.ConversionCRDs {
			if other, taken := by[crd]; taken {
				return fmt.Errorf("webhook %s: CRD %s is converted by webhook %s already", description.GenerateName, crd, other)
			}
			by[crd] = description.GenerateName
		}
	}
	return nil
}

func checkConversion(csv *v1alpha1.ClusterServiceVersion, description v1alpha1.WebhookDescription) error {
	modes, err := v1alpha1.NewInstallModeSet(csv.Spec.InstallModes)
	if err != nil {
		return err
	}
	only := modes[v1alpha1.InstallModeTypeAllNamespaces]
	for mode, supported := range modes {
		only = only && (!supported || mode == v1alpha1.InstallModeTypeAllNamespaces)
	}
	if !only {
		return errors.New("a conversion webhook needs AllNamespaces as the only supported install mode")
	}
	if len(description.ConversionCRDs) == 0 {
		return errors.New("a conversion webhook needs conversionCRDs")
	}
	for _, crd := range description.ConversionCRDs {
		if err := CheckCRDName(crd); err != nil {
			return err
		}
		if !csv.OwnsCRD(crd) {
			return fmt.Errorf("CRD %s is not among the owned CRDs of the ClusterServiceVersion", crd)
		}
	}
	return nil
}
