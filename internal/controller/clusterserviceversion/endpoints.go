package clusterserviceversion

import (
	"context"
	"fmt"
	"slices"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// answers makes sure that there is somebody to ask before the API server is told to ask: objects whose webhook does not answer can be neither
// read nor written. Deployments are available a little before the Service in front of them has endpoints. What is the request for that, and
// until is what goes on meanwhile, for the message.
func (f *facts) answers(ctx context.Context, service types.NamespacedName, what, until string) error {
	ready, err := f.hasEndpoints(ctx, service)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if !ready {
		return fmt.Errorf("%s: Service %s has no endpoint that is ready; until it has one, %s", what, service, until)
	}
	return nil
}

// hasEndpoints says whether a Service leads to a pod that is ready. This is asked once for each change of where requests lead, which is
// not worth a cache of all endpoints of the cluster.
func (f *facts) hasEndpoints(ctx context.Context, service types.NamespacedName) (bool, error) {
	known, ok := f.endpoints[service]
	if !ok {
		var list discoveryv1.EndpointSliceList
		err := f.c.live.List(ctx, &list, client.InNamespace(service.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: service.Name})
		if err != nil {
			return false, fmt.Errorf("look for the endpoints of Service %s: %w", service, err)
		}
		if f.endpoints == nil {
			f.endpoints = map[types.NamespacedName][]discoveryv1.EndpointSlice{}
		}
		known = list.Items
		f.endpoints[service] = known
	}
	return slices.ContainsFunc(known, func(s discoveryv1.EndpointSlice) bool { return slices.ContainsFunc(s.Endpoints, isReady) }), nil
}
