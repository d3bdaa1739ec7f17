package clusterserviceversion

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// certSuffix is what the name of a serving certificate's Secret has after that of the Service.
const certSuffix = "-cert"

// oldAPIServices are the APIServices that are registered for the CSV and that it does not describe any more.
func (f *facts) oldAPIServices(ctx context.Context) ([]client.Object, error) {
	var list apiregistrationv1.APIServiceList
	if err := f.c.client.List(ctx, &list, client.MatchingFields{indexByOwner: f.name()}); err != nil {
		return nil, fmt.Errorf("list the APIServices of ClusterServiceVersion %s: %w", f.name(), err)
	}
	var out []client.Object
	for i := range list.Items {
		described := slices.ContainsFunc(f.csv.OwnedAPIServices(), func(d v1alpha1.APIServiceDescription) bool {
			return d.APIServiceName() == list.Items[i].Name
		})
		if !described && list.Items[i].DeletionTimestamp.IsZero() {
			out = append(out, &list.Items[i])
		}
	}
	return out, nil
}

// oldServing are the Services and certificates of Deployments that serve nothing any more. They stay until the operator runs without them:
// its old pods are asked for so long. A Secret goes after its Service, because it is what tells the Service from one that the bundle
// brought along.
func (f *facts) oldServing(ctx context.Context) ([]client.Object, error) {
	if f.csv.Status.Phase != toSucceeded {
		return nil, nil
	}
	secrets, err := f.oldCertificates(ctx)
	if err != nil {
		return nil, err
	}
	var out []client.Object
	for _, secret := range secrets {
		name := strings.TrimSuffix(secret, certSuffix)
		service, err := f.oldService(ctx, name)
		if err != nil {
			return nil, err
		}
		used, err := f.convertedThrough(ctx, name)
		if err != nil {
			return nil, err
		}
		switch {
		case len(used) > 0:
			// The CRDs are converted by nobody first, see computeHooks.
		case service != nil:
			out = append(out, service)
		default:
			out = append(out, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: f.csv.Namespace, Name: secret}})
		}
	}
	return out, nil
}

// oldCertificates are the names of the Secrets with certificates that were made for the CSV and that none of its Deployments serves with.
func (f *facts) oldCertificates(ctx context.Context) ([]string, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	err := f.c.client.List(ctx, list, client.InNamespace(f.csv.Namespace), client.MatchingLabels(bundle.OwnerLabels(f.csv)), client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("list the serving certificates of ClusterServiceVersion %s: %w", f.name(), err)
	}
	serving := map[string]bool{}
	for _, deployment := range bundle.ServingDeployments(f.csv) {
		serving[bundle.ServingSecretName(deployment)] = true
	}
	var out []string
	for i := range list.Items {
		secret := &list.Items[i]
		_, certificate := secret.Annotations[v1alpha1.CAHashAnnotation]
		if certificate && !serving[secret.Name] && hasOwner(secret, f.csv.UID) && strings.HasSuffix(secret.Name, bundle.ServingSecretName("")) {
			out = append(out, secret.Name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// oldService reads a Service that belongs to the CSV; nil when there is none.
func (f *facts) oldService(ctx context.Context, name string) (client.Object, error) {
	service := &corev1.Service{}
	err := f.c.client.Get(ctx, key(f.csv.Namespace, name), service)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read Service %s/%s: %w", f.csv.Namespace, name, err)
	}
	if !ownedBy(service, f.csv) || !hasOwner(service, f.csv.UID) || !service.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	return service, nil
}

// convertedThrough are the owned CRDs that a Service of the CSV converts although no webhook describes that any more. Without the
// Service nobody could read them.
func (f *facts) convertedThrough(ctx context.Context, service string) ([]string, error) {
	var out []string
	for _, owned := range f.csv.Spec.CustomResourceDefinitions.Owned {
		crd, err := f.readCRD(ctx, owned.Name)
		if err != nil {
			return nil, err
		}
		if crd != nil && !converts(f.csv, owned.Name) && servedFrom(crd, f.csv.Namespace, service) {
			out = append(out, owned.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// givenUp are the conversions that the CSV described before: it makes the CRDs be converted by nobody.
func (f *facts) givenUp(ctx context.Context) ([]bundle.Conversion, error) {
	secrets, err := f.oldCertificates(ctx)
	if err != nil {
		return nil, err
	}
	var out []bundle.Conversion
	for _, secret := range secrets {
		crds, err := f.convertedThrough(ctx, strings.TrimSuffix(secret, certSuffix))
		if err != nil {
			return nil, err
		}
		for _, crd := range crds {
			out = append(out, bundle.Conversion{CRD: crd, Spec: &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}})
		}
	}
	return out, nil
}
