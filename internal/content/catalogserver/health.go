package catalogserver

import (
	"context"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// Health is the health service. What is true of the server is true of any service that clients ask for by name.
type Health struct {
	healthpb.UnimplementedHealthServer

	mu      sync.Mutex
	state   healthpb.HealthCheckResponse_ServingStatus
	stopped bool
	changed chan struct{} // closed when something above changes
}

// NewHealth is the health of a server that does not serve yet.
func NewHealth() *Health {
	return &Health{state: healthpb.HealthCheckResponse_NOT_SERVING, changed: make(chan struct{})}
}

// Set tells whether the server serves.
func (h *Health) Set(serving bool) {
	state := healthpb.HealthCheckResponse_NOT_SERVING
	if serving {
		state = healthpb.HealthCheckResponse_SERVING
	}
	h.change(func() { h.state = state })
}

// Stop says that the server will not serve any more, and sends those away who watch it.
func (h *Health) Stop() {
	h.change(func() { h.state, h.stopped = healthpb.HealthCheckResponse_NOT_SERVING, true })
}

func (h *Health) change(do func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		return
	}
	do()
	close(h.changed)
	h.changed = make(chan struct{})
}

func (h *Health) now() (answer *healthpb.HealthCheckResponse, stopped bool, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return &healthpb.HealthCheckResponse{Status: h.state}, h.stopped, h.changed
}

// Serving tells whether the server serves.
func (h *Health) Serving() bool {
	answer, _, _ := h.now()
	return answer.GetStatus() == healthpb.HealthCheckResponse_SERVING
}

// Check implements the health service.
func (h *Health) Check(context.Context, *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	answer, _, _ := h.now()
	return answer, nil
}

// List implements the health service.
func (h *Health) List(context.Context, *healthpb.HealthListRequest) (*healthpb.HealthListResponse, error) {
	answer, _, _ := h.now()
	return &healthpb.HealthListResponse{Statuses: map[string]*healthpb.HealthCheckResponse{"": answer}}, nil
}

// Watch implements the health service: the state now, and each change of it.
func (h *Health) Watch(_ *healthpb.HealthCheckRequest, stream grpc.ServerStreamingServer[healthpb.HealthCheckResponse]) error {
	sent := healthpb.HealthCheckResponse_UNKNOWN
	for {
		answer, stopped, changed := h.now()
		if answer.GetStatus() != sent {
			if err := stream.Send(answer); err != nil {
				return err
			}
			sent = answer.GetStatus()
		}
		if stopped {
			return status.Error(codes.Unavailable, "the server stops")
		}
		select {
		case <-changed:
		case <-stream.Context().Done():
			return status.FromContextError(stream.Context().Err()).Err()
		}
	}
}
