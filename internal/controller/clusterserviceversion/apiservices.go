package clusterserviceversion

import (
	"context"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// apiServices are the registrations of the owned aggregated APIs.
func apiServices(csv *v1alpha1.ClusterServiceVersion, config *v1alpha1.SubscriptionConfig, certificates certificates) []client.Object {
	trusted := map[string]bundle.ServingCert{}
	for deployment, certificate := range certificates {
		trusted[deployment] = bundle.ServingCert{CA: certificate.trusted}
	}
	var out []client.Object
	for _, service := range bundle.APIServices(csv, trusted) {
		if config != nil {
			service.Annotations = maps.Clone(config.Annotations)
		}
		out = append(out, service)
	}
	return out
}

// apiServicesForeign looks for an owned API that somebody else has registered and keeps.
func (f *facts) apiServicesForeign(ctx context.Context) (finding, error) {
	for _, description := range f.csv.OwnedAPIServices() {
		live, err := f.readAPIService(ctx, description.APIServiceName())
		if err != nil {
			return seenNot, err
		}
		if live == nil {
			continue
		}
		keeper, err := f.keeperOf(ctx, live)
		if err != nil {
			return seenNot, err
		}
		if keeper != "" {
			return seen(fmt.Sprintf("APIService %s belongs to %s; delete it or them first", live.Name, keeper)), nil
		}
	}
	return seenNot, nil
}

// keeperOf says who an APIService belongs to that this CSV cannot take over; empty when it can: from itself, from the
// CSV that it replaces, from one that is on its way out, and from one that no longer exists.
func (f *facts) keeperOf(ctx context.Context, live *apiregistrationv1.APIService) (string, error) {
	owner, ok := ownerOf(live)
	if !ok {
		return "an owner that is no ClusterServiceVersion", nil
	}
	if owner.Namespace == f.csv.Namespace && (owner.Name == f.csv.Name || owner.Name == f.csv.Spec.Replaces) {
		return "", nil
	}
	csv, err := f.c.ownerCSV(ctx, owner)
	if err != nil || csv == nil {
		return "", err
	}
	if csv.Status.Phase == toReplacing || csv.Status.Phase == toDeleting {
		return "", nil
	}
	return fmt.Sprintf("ClusterServiceVersion %s", owner), nil
}

// ownerCSV reads the CSV that owner labels name; nil when it does not exist. One of a namespace that the manager does
// not watch is read from the cluster.
func (c *Controller) ownerCSV(ctx context.Context, owner types.NamespacedName) (*v1alpha1.ClusterServiceVersion, error) {
	csv := &v1alpha1.ClusterServiceVersion{}
	err := c.readerFor(owner.Namespace).Get(ctx, owner, csv)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ClusterServiceVersion %s: %w", owner, err)
	}
	return csv, nil
}

// apiServicesBroken looks for registrations that are missing or lead elsewhere.
func (f *facts) apiServicesBroken(ctx context.Context) (finding, error) {
	if f.attempt != nil {
		return seenNot, nil
	}
	wanted, err := f.compute(ctx)
	if err != nil {
		return seenNot, err
	}
	changes, err := f.c.compare(ctx, wanted.apiServices)
	if err != nil || len(changes) == 0 {
		return seenNot, err
	}
	return seen(changes[0].String()), nil
}

// apiServicesUnready looks for owned APIs that the cluster does not reach or serve yet.
func (f *facts) apiServicesUnready(ctx context.Context) (finding, error) {
	wanted, err := f.compute(ctx)
	if err != nil {
		return seenNot, err
	}
	for _, description := range f.csv.OwnedAPIServices() {
		if wait := wanted.later[description.APIServiceName()]; wait != "" {
			return seen(wait), nil
		}
		live, err := f.readAPIService(ctx, description.APIServiceName())
		if err != nil {
			return seenNot, err
		}
		if live == nil || !available(live) {
			return seen(fmt.Sprintf("waiting for APIService %s to become available%s", description.APIServiceName(), unreachable(live))), nil
		}
		served, err := f.serves(schema.GroupVersionKind{Group: description.Group, Version: description.Version, Kind: description.Kind})
		if err != nil {
			return seenNot, err
		}
		if !served {
			return seen(fmt.Sprintf("waiting for APIService %s to serve kind %s", description.APIServiceName(), description.Kind)), nil
		}
	}
	return seenNot, nil
}

// unreachable is what the cluster says about an APIService that is not available.
func unreachable(s *apiregistrationv1.APIService) string {
	if s == nil {
		return ""
	}
	for _, c := range s.Status.Conditions {
		if c.Type == apiregistrationv1.Available && c.Message != "" {
			return ": " + c.Message
		}
	}
	return ""
}
