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
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/test/must"
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
		leave := must.Value(s.enter(greedy))(t)
		leaves = append(leaves, leave)
	}
	if _, err := s.enter(greedy); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("one more: %v, want ResourceExhausted", err)
	}
	leave, err := s.enter(other)
	must.NoErrorf(t, err, "another client")
	leave()
	s.wait = time.Minute
	got := make(chan error)
	go func() {
		_, err := s.enter(greedy)
		got <- err
	}()
	leaves[0]()
	must.NoErrorf(t, <-got, "when a call has ended")
	for i := range maxCalls - maxCallsPeer {
		must.Value(s.enter(from(t.Context(), fmt.Sprintf("192.0.3.%d", i))))(t)
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
		must.NoError(t, err)
	}
	if _, err := registry.NewRegistryClient(dial(t, s.address)).GetPackage(soon(t), &registry.GetPackageRequest{Name: "p"}); err != nil {
		t.Errorf("beside streams that are not read: %v", err)
	}
}

// entered is a stream of a client, whose messages go to next.
func entered(t *testing.T, s *share, ctx context.Context, next grpc.ServerStream) *boundedStream {
	t.Helper()
	leave := must.Value(s.enter(ctx))(t)
	stream := &boundedStream{ServerStream: next, work: s.work, built: s.built}
	stream.encoder = &encoder{delivery: deliver(ctx, time.Minute, s.roomOf(PeerOf(ctx)), leave)}
	return stream
}

// TestLargeMessagesWaitForEachOther, so that readers that take none hold no more than some.
func TestLargeMessagesWaitForEachOther(t *testing.T) {
	s := newShare(make(Work, 1))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if !s.large.TryAcquire(maxLarge) {
		t.Fatal("there is no room")
	}
	stream := entered(t, s, ctx, sink{ctx: ctx})
	large := &registry.Bundle{CsvJson: strings.Repeat("x", largeMessage)}
	must.Equal(t, "a large message beside others", status.Code(stream.SendMsg(large)), codes.DeadlineExceeded)
	if err := stream.SendMsg(&registry.Bundle{CsvName: "small"}); err != nil && ctx.Err() == nil {
		t.Errorf("a small message beside large ones: %v", err)
	}
	stream.end()
	stream.finish()
	s.large.Release(maxLarge)
	stream = entered(t, s, t.Context(), sink{ctx: t.Context()})
	large.CsvJson = strings.Repeat("x", 2*maxLarge)
	if err := stream.SendMsg(large); err != nil || !stream.working {
		t.Errorf("a message larger than all the room, alone: %v", err)
	}
	stream.end()
	stream.finish()
	nothingHeld(t, s)
}

// nothingHeld checks that no call takes anything.
func nothingHeld(t *testing.T, s *share) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.large.TryAcquire(maxLarge) || !s.built.TryAcquire(maxBuilt) || len(s.work) != 0 || s.calls != 0 || len(s.peers) != 0 {
		t.Errorf("something is still held: %d calls of %d clients, %d at work", s.calls, len(s.peers), len(s.work))
	}
}

// sink is a stream that takes everything, as the library does, and writes it at once.
type sink struct {
	grpc.ServerStream
	ctx context.Context
}

func (s sink) Context() context.Context { return s.ctx }

func (s sink) SendMsg(message any) error {
	data, err := newCodec().Marshal(message)
	if err == nil {
		data.Free()
	}
	return err
}

// queue is a stream that takes everything, and writes nothing.
type queue struct {
	sink
	waiting *[]mem.BufferSlice
}

func (q queue) SendMsg(message any) error {
	data, err := newCodec().Marshal(message)
	*q.waiting = append(*q.waiting, data)
	return err
}

// TestACallEndsWhenItsMessagesAreWritten: a call whose handler has returned counts for its client until its messages are written, small and
// large ones alike.
func TestACallEndsWhenItsMessagesAreWritten(t *testing.T) {
	s, ctx := newShare(nil), from(t.Context(), "192.0.2.1")
	var waiting []mem.BufferSlice
	stream := entered(t, s, ctx, queue{sink{ctx: ctx}, &waiting})
	for _, size := range []int{0, 1, 100, trackedBytes, chunkBytes, largeMessage, 3 * maxLargePeer / 4} {
		must.NoError(t, stream.SendMsg(&registry.Bundle{CsvJson: strings.Repeat("x", size)}))
	}
	if s.roomOf("192.0.2.1").try(maxLargePeer / 4) {
		t.Error("large messages that are not written take no room")
	}
	stream.end()
	stream.finish()
	for i, data := range waiting {
		if s.calls != 1 {
			t.Fatalf("with %d messages that are not written there are %d calls, want 1", len(waiting)-i, s.calls)
		}
		var b registry.Bundle
		if err := newCodec().Unmarshal(data, &b); err != nil {
			t.Errorf("message %d was overwritten: %v", i, err)
		}
		data.Free()
	}
	nothingHeld(t, s)
}

// TestFewLargeMessagesOfStreamsWaitForRoom, as they are in memory already.
func TestFewLargeMessagesOfStreamsWaitForRoom(t *testing.T) {
	s := newShare(nil)
	s.large.TryAcquire(maxLarge)
	s.built.TryAcquire(maxBuilt)
	ctx := from(t.Context(), "192.0.2.1")
	stream := entered(t, s, ctx, sink{ctx: ctx})
	must.Equal(t, "one more large message", status.Code(stream.SendMsg(&registry.Bundle{CsvJson: strings.Repeat("x", largeMessage)})), codes.ResourceExhausted)
}

// TestErrorsAreBrief, which repeat names of the client.
func TestErrorsAreBrief(t *testing.T) {
	s := serve(t, map[string]*catalog.Index{"c": onePackage(t, "p")})
	_, err := registry.NewRegistryClient(dial(t, s.address)).GetPackage(soon(t), &registry.GetPackageRequest{Name: strings.Repeat("ä", maxRequestBytes/4)})
	if text := status.Convert(err).Message(); status.Code(err) != codes.NotFound || len(text) > messages.MaxStatus+100 || !strings.Contains(text, "bytes more") {
		t.Errorf("an unknown package with a long name: %d bytes: %.300s", len(text), text)
	}
}

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
