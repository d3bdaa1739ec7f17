package catalogserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
)

// from is the context of a call from an address.
func from(ctx context.Context, host string) context.Context {
	return peer.NewContext(ctx, &peer.Peer{Addr: &net.TCPAddr{IP: net.ParseIP(host), Port: 1234}})
}

// TestOneClientLeavesRoom: one address has a share of the calls, another one still gets in, and who waits gets in when a call ends.
func TestOneClientLeavesRoom(t *testing.T) {
	s := newShare(nil)
	s.wait = 50 * time.Millisecond
	greedy, other := from(t.Context(), "192.0.2.1"), from(t.Context(), "192.0.2.2")
	var leaves []func()
	for range maxCallsPeer {
		leave, err := s.enter(greedy)
		if err != nil {
			t.Fatal(err)
		}
		leaves = append(leaves, leave)
	}
	if _, err := s.enter(greedy); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("one more: %v, want ResourceExhausted", err)
	}
	leave, err := s.enter(other)
	if err != nil {
		t.Errorf("another client: %v", err)
	}
	leave()
	s.wait = time.Minute
	got := make(chan error)
	go func() {
		_, err := s.enter(greedy)
		got <- err
	}()
	leaves[0]()
	if err := <-got; err != nil {
		t.Errorf("when a call has ended: %v", err)
	}
	for i := range maxCalls - maxCallsPeer {
		if _, err := s.enter(from(t.Context(), fmt.Sprintf("192.0.3.%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	ended, cancel := context.WithCancel(other)
	cancel()
	if _, err := s.enter(ended); status.Code(err) != codes.Canceled {
		t.Errorf("among all calls that there may be: %v, want that it waits until its context ends", err)
	}
}

// TestASlowReaderLetsOthersWork: streams that are not read hold no processor time, of which there is for one call here.
func TestASlowReaderLetsOthersWork(t *testing.T) {
	s := serve(t, map[string]*catalog.Index{"c": manyChannels(t)})
	for range 8 {
		stream, err := registry.NewRegistryClient(dial(t, s.address)).ListBundles(soon(t), &registry.ListBundlesRequest{})
		if err == nil {
			_, err = stream.Recv()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := registry.NewRegistryClient(dial(t, s.address)).GetPackage(soon(t), &registry.GetPackageRequest{Name: "p"}); err != nil {
		t.Errorf("beside streams that are not read: %v", err)
	}
}

// TestLargeMessagesWaitForEachOther, so that readers that take none hold no more than some.
func TestLargeMessagesWaitForEachOther(t *testing.T) {
	s := newShare(make(Work, 1))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if !s.large.TryAcquire(maxLarge) {
		t.Fatal("there is no room")
	}
	stream := &workingStream{ServerStream: sink{ctx: ctx}, share: s}
	large := &registry.Bundle{CsvJson: strings.Repeat("x", largeMessage)}
	if err := stream.SendMsg(large); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("a large message beside others: %v, want that it waits", err)
	}
	if err := stream.SendMsg(&registry.Bundle{CsvName: "small"}); err != nil && ctx.Err() == nil {
		t.Errorf("a small message beside large ones: %v", err)
	}
	stream.end()
	s.large.Release(maxLarge)
	stream = &workingStream{ServerStream: sink{ctx: t.Context()}, share: s}
	large.CsvJson = strings.Repeat("x", 2*maxLarge)
	if err := stream.SendMsg(large); err != nil || !stream.working {
		t.Errorf("a message larger than all the room, alone: %v", err)
	}
	stream.end()
	if !s.large.TryAcquire(maxLarge) || len(s.work) != 0 {
		t.Error("something is still held")
	}
}

// sink is a stream that takes everything.
type sink struct {
	grpc.ServerStream
	ctx context.Context
}

func (s sink) Context() context.Context { return s.ctx }
func (s sink) SendMsg(any) error        { return nil }

// TestClientsAreRefused that may not read what is served here, but for probes.
func TestClientsAreRefused(t *testing.T) {
	refusal := status.Error(codes.PermissionDenied, "not yours")
	a := admission(func(context.Context) error { return refusal })
	answered := func(context.Context, any) (any, error) { return "answer", nil }
	for method, want := range map[string]error{"/api.Registry/GetPackage": refusal, "/grpc.health.v1.Health/Check": nil} {
		if _, err := a.unary(t.Context(), nil, &grpc.UnaryServerInfo{FullMethod: method}, answered); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", method, err, want)
		}
		err := a.stream(nil, sink{ctx: t.Context()}, &grpc.StreamServerInfo{FullMethod: method}, func(any, grpc.ServerStream) error { return nil })
		if !errors.Is(err, want) {
			t.Errorf("stream %s: %v, want %v", method, err, want)
		}
	}
}
