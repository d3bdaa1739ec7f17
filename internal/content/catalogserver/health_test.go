package catalogserver

import (
	"testing"

	"fairlead.dev/fairlead/test/must"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	oldreflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
)

func TestHealthIsThatOfTheServerForAnyService(t *testing.T) {
	s := serve(t, nil)
	client := healthpb.NewHealthClient(dial(t, s.address))
	for _, want := range []healthpb.HealthCheckResponse_ServingStatus{healthpb.HealthCheckResponse_SERVING, healthpb.HealthCheckResponse_NOT_SERVING} {
		s.health.Set(want == healthpb.HealthCheckResponse_SERVING)
		for _, service := range []string{"", "Registry", "api.Registry", "anything"} {
			answer, err := client.Check(soon(t), &healthpb.HealthCheckRequest{Service: service})
			must.NoErrorf(t, err, "%s", service)
			must.Equal(t, service, answer.GetStatus(), want)
		}
		list, err := client.List(soon(t), &healthpb.HealthListRequest{})
		must.NoErrorf(t, err, "List")
		must.Equal(t, "list", list.GetStatuses()[""].GetStatus(), want)
	}
}

func TestHealthCanBeWatchedUntilTheServerStops(t *testing.T) {
	s := serve(t, nil)
	s.health.Set(false)
	stream := must.Value(healthpb.NewHealthClient(dial(t, s.address)).Watch(soon(t), &healthpb.HealthCheckRequest{Service: "Registry"}))(t)
	steps := []struct {
		do   func()
		want healthpb.HealthCheckResponse_ServingStatus
	}{
		{func() {}, healthpb.HealthCheckResponse_NOT_SERVING},
		{func() { s.health.Set(true) }, healthpb.HealthCheckResponse_SERVING},
		{s.health.Stop, healthpb.HealthCheckResponse_NOT_SERVING},
	}
	for _, step := range steps {
		step.do()
		if answer, err := stream.Recv(); err != nil || answer.GetStatus() != step.want {
			t.Fatalf("got %v, %v, want %v", answer, err, step.want)
		}
	}
	if _, err := stream.Recv(); status.Code(err) != codes.Unavailable {
		t.Errorf("after the end: %v, want Unavailable", err)
	}
	s.health.Set(true)
	must.Equal(t, "a stopped server serves again", s.health.Serving(), false)
}

func TestReflection(t *testing.T) {
	conn := dial(t, serve(t, nil).address)
	want := []string{
		"api.ExperimentalRegistry", "api.Registry", "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection",
	}
	stream := must.Value(reflectionpb.NewServerReflectionClient(conn).ServerReflectionInfo(soon(t)))(t)
	must.NoError(t, stream.Send(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}}))
	answer := must.Value(stream.Recv())(t)
	var got []string
	for _, service := range answer.GetListServicesResponse().GetService() {
		got = append(got, service.GetName())
	}
	must.Equal(t, "services", got, want)
	checkOldReflection(t, conn)
}

func checkOldReflection(t *testing.T, conn *grpc.ClientConn) {
	old := must.Value(oldreflectionpb.NewServerReflectionClient(conn).ServerReflectionInfo(soon(t)))(t)
	request := &oldreflectionpb.ServerReflectionRequest{ //nolint:staticcheck // SA1019: that old clients are answered is what is tested
		MessageRequest: &oldreflectionpb.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: "api.Registry"}, //nolint:staticcheck // SA1019: as above
	}
	must.NoError(t, old.Send(request))
	answer, err := old.Recv()
	if err != nil || len(answer.GetFileDescriptorResponse().GetFileDescriptorProto()) == 0 { //nolint:staticcheck // SA1019: as above
		t.Errorf("got %v, %v, want the descriptor of api.Registry", answer, err)
	}
}
