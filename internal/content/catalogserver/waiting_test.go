package catalogserver

import (
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// watchHealth begins to watch, and returns the first answer.
func watchHealth(t *testing.T, conn *grpc.ClientConn) error {
	t.Helper()
	stream, err := healthpb.NewHealthClient(conn).Watch(soon(t), &healthpb.HealthCheckRequest{})
	if err == nil {
		_, err = stream.Recv()
	}
	return err
}

// TestThoseWhoWaitLeaveRoom: neither one connection nor all may watch so much that others are not answered.
func TestThoseWhoWaitLeaveRoom(t *testing.T) {
	s := serve(t, map[string]*catalog.Index{"c": onePackage(t, "p")})
	first := dial(t, s.address)
	for i := range maxWaitingConnection {
		must.NoErrorf(t, watchHealth(t, first), "watch %d", i)
	}
	must.Equal(t, "one more of the same connection", status.Code(watchHealth(t, first)), codes.ResourceExhausted)
	second := dial(t, s.address)
	must.NoErrorf(t, watchHealth(t, second), "another connection")
	if _, err := registry.NewRegistryClient(first).GetPackage(soon(t), &registry.GetPackageRequest{Name: "p"}); err != nil {
		t.Errorf("what does not wait: %v", err)
	}
}

func TestWaiters(t *testing.T) {
	w := &waiters{}
	var leave []func()
	for range maxWaiting {
		leave = append(leave, must.Value(w.join(&link{}, "wait"))(t))
	}
	if _, err := w.join(&link{}, "wait"); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("there is room for one more than there should be: %v", err)
	}
	leave[0]()
	leave[0] = must.Value(w.join(&link{}, "wait"))(t) // who leaves makes room
	for _, each := range leave {
		each()
	}
	must.Equal(t, "left over", w.all, 0)
	must.Empty(t, "left over", w.each)
}
