package clusterserviceversion

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout/crd"
)

// converted says whether a CRD is converted by the webhook. A CRD that is gone has nothing to convert.
func (f *facts) converted(ctx context.Context, wanted bundle.Conversion) (bool, error) {
	live, err := f.readCRD(ctx, wanted.CRD)
	if err != nil || live == nil {
		return true, err
	}
	return equality.Semantic.DeepEqual(live.Spec.Conversion, wanted.Spec), nil
}

// convert makes a CRD be converted by the webhook. This controller is the only one that writes spec.conversion of such
// a CRD.
func (f *facts) convert(ctx context.Context, wanted bundle.Conversion) error {
	live, err := f.readCRD(ctx, wanted.CRD)
	if err != nil || live == nil {
		return err
	}
	if wanted.Spec.Strategy == apiextensionsv1.NoneConverter {
		return crd.Convert(ctx, f.c.client, wanted.CRD, wanted.Spec, fieldManager)
	}
	if err := wanted.Check(live); err != nil {
		return refused(err)
	}
	if err := f.mayConvert(ctx, live, wanted); err != nil {
		return err
	}
	if err := f.convertedElsewhere(ctx, live); err != nil {
		return err
	}
	if service := crd.ConverterOf(wanted.Spec); !leadsTo(live, wanted.Spec) {
		what, until := "convert CRD "+wanted.CRD+" by webhook", "the CRD is converted as before"
		if err := f.answers(ctx, service.NamespacedName, what, until); err != nil {
			return err
		}
		if err := f.showsTrusted(ctx, wanted.Spec.Webhook.ClientConfig.Service, wanted.Spec.Webhook.ClientConfig.CABundle, what, until); err != nil {
			return err
		}
	}
	return crd.Convert(ctx, f.c.client, wanted.CRD, wanted.Spec, fieldManager)
}

// updateTrust brings the authorities for a conversion that is in use already up to date.
func (f *facts) updateTrust(ctx context.Context, wanted bundle.Conversion) error {
	live, err := f.readCRD(ctx, wanted.CRD)
	if err != nil || live == nil || !leadsTo(live, wanted.Spec) {
		return err
	}
	return crd.Convert(ctx, f.c.client, wanted.CRD, wanted.Spec, fieldManager)
}

// leadsTo reports whether a CRD is converted by the same Service.
func leadsTo(live *apiextensionsv1.CustomResourceDefinition, conversion *apiextensionsv1.CustomResourceConversion) bool {
	return crd.ConverterOf(live.Spec.Conversion).SameService(crd.ConverterOf(conversion))
}

// convertedElsewhere refuses to convert a CRD that a CSV of another namespace converts, or, while nobody does, that an older one is about to
// convert. That a CSV describes a conversion is not enough: it may never have been installed.
func (f *facts) convertedElsewhere(ctx context.Context, live *apiextensionsv1.CustomResourceDefinition) error {
	if crd.ConverterOf(live.Spec.Conversion).Namespace == f.csv.Namespace {
		return nil
	}
	var list v1alpha1.ClusterServiceVersionList
	if err := f.c.client.List(ctx, &list, client.MatchingFields{indexByAPI: crdKey(live.Name)}, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the ClusterServiceVersions with CRD %s: %w", live.Name, err)
	}
	var next *v1alpha1.ClusterServiceVersion
	for i := range list.Items {
		other := &list.Items[i]
		if other.Namespace == f.csv.Namespace || !other.DeletionTimestamp.IsZero() || isStopped(other) {
			continue
		}
		if convertsNow(other, live) {
			return conversionHeld(live, "is", other)
		}
		older := cmp.Or(other.CreationTimestamp.Compare(f.csv.CreationTimestamp.Time), cmp.Compare(other.Namespace, f.csv.Namespace)) < 0
		if older && installs(other) && converts(other, live.Name) {
			next = other
		}
	}
	if next != nil {
		return conversionHeld(live, "is to be", next)
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
			live, err := f.readCRD(ctx, name)
			if err != nil {
				return err
			}
			taken := slices.ContainsFunc(siblings, func(s *v1alpha1.ClusterServiceVersion) bool {
				return s.Name != f.csv.Name && s.DeletionTimestamp.IsZero() && converts(s, name)
			})
			if live == nil || taken || !servedFrom(live, f.csv.Namespace, bundle.ServingServiceName(description.DeploymentName)) {
				continue
			}
			none := &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
			if err := crd.Convert(ctx, f.c.client, name, none, fieldManager); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	return nil
}

func servedFrom(live *apiextensionsv1.CustomResourceDefinition, namespace, service string) bool {
	return crd.ConverterOf(live.Spec.Conversion).NamespacedName == key(namespace, service)
}
