package clusterserviceversion

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// converted says whether a CRD is converted by the webhook. A CRD that is gone has nothing to convert.
func (f *facts) converted(ctx context.Context, wanted bundle.Conversion) (bool, error) {
	crd, err := f.readCRD(ctx, wanted.CRD)
	if err != nil || crd == nil {
		return true, err
	}
	return equality.Semantic.DeepEqual(crd.Spec.Conversion, wanted.Spec), nil
}

// convert makes a CRD be converted by the webhook. This controller is the only one that writes spec.conversion of such
// a CRD. It is no apply request: another manager's fields of the same conversion could then not be removed again.
func (f *facts) convert(ctx context.Context, wanted bundle.Conversion) error {
	crd, err := f.readCRD(ctx, wanted.CRD)
	if err != nil || crd == nil {
		return err
	}
	if wanted.Spec.Strategy == apiextensionsv1.NoneConverter {
		return f.c.patchConversion(ctx, wanted.CRD, wanted.Spec)
	}
	if err := wanted.Check(crd); err != nil {
		return refused(err)
	}
	if err := f.mayConvert(ctx, crd, wanted); err != nil {
		return err
	}
	if err := f.convertedElsewhere(ctx, crd); err != nil {
		return err
	}
	if service := conversionService(wanted.Spec); service != nil && !leadsTo(crd, wanted.Spec) {
		what, until := "convert CRD "+wanted.CRD+" by webhook", "the CRD is converted as before"
		if err := f.answers(ctx, key(service.Namespace, service.Name), what, until); err != nil {
			return err
		}
		if err := f.showsTrusted(ctx, service, wanted.Spec.Webhook.ClientConfig.CABundle, what, until); err != nil {
			return err
		}
	}
	return f.c.patchConversion(ctx, wanted.CRD, wanted.Spec)
}

// updateTrust brings the authorities for a conversion that is in use already up to date.
func (f *facts) updateTrust(ctx context.Context, wanted bundle.Conversion) error {
	crd, err := f.readCRD(ctx, wanted.CRD)
	if err != nil || crd == nil || !leadsTo(crd, wanted.Spec) {
		return err
	}
	return f.c.patchConversion(ctx, wanted.CRD, wanted.Spec)
}

// leadsTo says whether a CRD is converted by the same Service.
func leadsTo(crd *apiextensionsv1.CustomResourceDefinition, conversion *apiextensionsv1.CustomResourceConversion) bool {
	service, wanted := conversionService(crd.Spec.Conversion), conversionService(conversion)
	return service != nil && wanted != nil && service.Namespace == wanted.Namespace && service.Name == wanted.Name
}

// conversionService is the Service that converts; nil when there is none.
func conversionService(c *apiextensionsv1.CustomResourceConversion) *apiextensionsv1.ServiceReference {
	if c == nil || c.Webhook == nil || c.Webhook.ClientConfig == nil {
		return nil
	}
	return c.Webhook.ClientConfig.Service
}

// convertedElsewhere refuses to convert a CRD that a CSV of another namespace converts, or, while nobody does, that an older one is about to
// convert. That a CSV describes a conversion is not enough: it may never have been installed.
func (f *facts) convertedElsewhere(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) error {
	if s := conversionService(crd.Spec.Conversion); s != nil && s.Namespace == f.csv.Namespace {
		return nil
	}
	var list v1alpha1.ClusterServiceVersionList
	if err := f.c.client.List(ctx, &list, client.MatchingFields{indexByAPI: crdKey(crd.Name)}, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the ClusterServiceVersions with CRD %s: %w", crd.Name, err)
	}
	var next *v1alpha1.ClusterServiceVersion
	for i := range list.Items {
		other := &list.Items[i]
		if other.Namespace == f.csv.Namespace || !other.DeletionTimestamp.IsZero() || isStopped(other) {
			continue
		}
		if convertsNow(other, crd) {
			return conversionHeld(crd, "is", other)
		}
		older := cmp.Or(other.CreationTimestamp.Compare(f.csv.CreationTimestamp.Time), cmp.Compare(other.Namespace, f.csv.Namespace)) < 0
		if older && installs(other) && converts(other, crd.Name) {
			next = other
		}
	}
	if next != nil {
		return conversionHeld(crd, "is to be", next)
	}
	return nil
}

func conversionHeld(crd *apiextensionsv1.CustomResourceDefinition, is string, by *v1alpha1.ClusterServiceVersion) error {
	return refused(fmt.Errorf("CRD %s %s converted by ClusterServiceVersion %s, which was there first: a CRD has one conversion webhook in the cluster; delete one of the two",
		crd.Name, is, client.ObjectKeyFromObject(by)))
}

// convertsNow says whether a CRD is converted by one of the Services of a CSV.
func convertsNow(csv *v1alpha1.ClusterServiceVersion, crd *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(csv.Spec.WebhookDefinitions, func(d v1alpha1.WebhookDescription) bool {
		return d.Type == v1alpha1.ConversionWebhook && slices.Contains(d.ConversionCRDs, crd.Name) &&
			servedFrom(crd, csv.Namespace, bundle.ServingServiceName(d.DeploymentName))
	})
}

// converts says whether a CSV describes a conversion webhook for the CRD.
func converts(csv *v1alpha1.ClusterServiceVersion, crd string) bool {
	return slices.ContainsFunc(csv.Spec.WebhookDefinitions, func(d v1alpha1.WebhookDescription) bool {
		return d.Type == v1alpha1.ConversionWebhook && slices.Contains(d.ConversionCRDs, crd)
	})
}

// resetConversions makes the CRDs of a CSV that is being deleted convert nothing any more: those that its Services
// convert, and that no other CSV of the namespace converts.
func (f *facts) resetConversions(ctx context.Context) error {
	siblings, err := f.listSiblings(ctx)
	if err != nil {
		return err
	}
	for _, description := range f.csv.Spec.WebhookDefinitions {
		if description.Type != v1alpha1.ConversionWebhook {
			continue
		}
		for _, name := range description.ConversionCRDs {
			crd, err := f.readCRD(ctx, name)
			if err != nil {
				return err
			}
			taken := slices.ContainsFunc(siblings, func(s *v1alpha1.ClusterServiceVersion) bool {
				return s.Name != f.csv.Name && s.DeletionTimestamp.IsZero() && converts(s, name)
			})
			if crd == nil || taken || !servedFrom(crd, f.csv.Namespace, bundle.ServingServiceName(description.DeploymentName)) {
				continue
			}
			none := &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
			if err := f.c.patchConversion(ctx, name, none); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	return nil
}

func servedFrom(crd *apiextensionsv1.CustomResourceDefinition, namespace, service string) bool {
	s := conversionService(crd.Spec.Conversion)
	return s != nil && s.Namespace == namespace && s.Name == service
}

// patchConversion writes spec.conversion of a CRD. What a webhook cannot have besides a Service is removed.
func (c *Controller) patchConversion(ctx context.Context, name string, wanted *apiextensionsv1.CustomResourceConversion) error {
	return patchConversionAs(ctx, c.client, name, wanted)
}

func patchConversionAs(ctx context.Context, as client.Client, name string, wanted *apiextensionsv1.CustomResourceConversion, options ...client.PatchOption) error {
	conversion := map[string]any{"strategy": wanted.Strategy, "webhook": nil}
	if service := conversionService(wanted); service != nil {
		conversion["webhook"] = map[string]any{
			"clientConfig":             map[string]any{"service": service, "caBundle": wanted.Webhook.ClientConfig.CABundle, "url": nil},
			"conversionReviewVersions": wanted.Webhook.ConversionReviewVersions,
		}
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"conversion": conversion}})
	if err != nil {
		return fmt.Errorf("set the conversion of CRD %s: %w", name, err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = name
	if err := as.Patch(ctx, crd, client.RawPatch(types.MergePatchType, patch), append(options, fieldManager)...); err != nil {
		return fmt.Errorf("set the conversion of CRD %s: %w", name, err)
	}
	return nil
}
