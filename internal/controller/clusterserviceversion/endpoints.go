package clusterserviceversion

import (
	"context"
	"fmt"

	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// answers makes sure that there is somebody to convert before the API server is told to ask: a CRD whose webhook does not answer can be
// neither read nor written. Deployments are available a little before the Service in front of them has endpoints.
func (f *facts) answers(ctx context.Context, crd string, service *apiextensionsv1.ServiceReference) error {
	var slices discoveryv1.EndpointSliceList
	// This is asked once for each change of a conversion, which is not worth a cache of all endpoints of the cluster.
	err := f.c.live.List(ctx, &slices, client.InNamespace(service.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: service.Name})
	if err != nil {
		return fmt.Errorf("look for the endpoints of Service %s/%s, which converts CRD %s: %w", service.Namespace, service.Name, crd, err)
	}
	for i := range slices.Items {
		for _, endpoint := range slices.Items[i].Endpoints {
			if ready := endpoint.Conditions.Ready; ready == nil || *ready {
				return nil
			}
		}
	}
	return fmt.Errorf("convert CRD %s by webhook: Service %s/%s has no endpoint that is ready; until it has one, the CRD is converted as before",
		crd, service.Namespace, service.Name)
}
