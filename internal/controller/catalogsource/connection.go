package catalogsource

import (
	"strconv"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	"google.golang.org/grpc/connectivity"
)

const protocolGRPC = "grpc"

// registryService names the Service of the catalog. For a registry server that another client runs there is none to name.
func registryService(source *v1alpha1.CatalogSource, known content, offered offer) *v1alpha1.RegistryServiceStatus {
	old := source.Status.RegistryServiceStatus
	switch {
	case known.invalid != nil:
		return nil
	case isAddress(source):
		if old != nil && old.Protocol == protocolGRPC && old.ServiceName == "" {
			return old
		}
		created := known.looked
		if created.IsZero() {
			created = source.CreationTimestamp.Time
		}
		return &v1alpha1.RegistryServiceStatus{Protocol: protocolGRPC, CreatedAt: *stamp(created)}
	case offered.undecided:
		return old
	case offered.service == "":
		return nil
	}
	return &v1alpha1.RegistryServiceStatus{Protocol: protocolGRPC, ServiceName: offered.service, ServiceNamespace: source.Namespace,
		Port: strconv.Itoa(registryPort), CreatedAt: offered.createdAt}
}

// connection keeps the documented states. A registry server that another client runs has those of the connection to it; content that this
// process serves is READY while there is any, and TRANSIENT_FAILURE while there is none to be had.
func connection(source *v1alpha1.CatalogSource, known content, offered offer, connected linkState) *v1alpha1.GRPCConnectionState {
	old := source.Status.GRPCConnectionState
	if known.invalid != nil {
		return nil
	}
	next := &v1alpha1.GRPCConnectionState{}
	if old != nil {
		next.LastConnectTime = old.LastConnectTime
	}
	if connected.address != "" && (!isAddress(source) || connected.address == source.Spec.Address) {
		next.Address, next.LastObservedState = connected.address, connected.state.String()
		if offered.failing { // an attempt to reach a Service without a pod that answers may take for ever
			next.LastObservedState = connectivity.TransientFailure.String()
		}
		if !connected.connected.IsZero() {
			next.LastConnectTime = *stamp(connected.connected)
		}
		return next
	}
	next.Address = registryService(source, known, offered).Address()
	if isAddress(source) {
		next.Address = source.Spec.Address
	}
	switch {
	case known.index != nil && !known.outdated() && !isAddress(source) && !offered.podded:
		next.LastObservedState, next.LastConnectTime = connectivity.Ready.String(), *later(later(&next.LastConnectTime, known.loaded), known.reached)
	case known.problem != nil || offered.failing:
		next.LastObservedState = connectivity.TransientFailure.String()
	default:
		next.LastObservedState = connectivity.Connecting.String()
	}
	return next
}
