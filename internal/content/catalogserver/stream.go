package catalogserver

import (
	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// boundedStream takes processor time between its messages only, and counts those until they are written.
type boundedStream struct {
	grpc.ServerStream
	*encoder
	work    Work
	built   *semaphore.Weighted
	working bool
}

func (s *boundedStream) begin() error {
	if err := s.work.begin(s.Context()); err != nil {
		return err
	}
	s.working = true
	return nil
}

func (s *boundedStream) end() {
	if s.working {
		s.working = false
		s.work.end()
	}
}

// SendMsg encodes a message, and lets others work until the client has room for more. A blocked SendMsg ends when its connection does.
func (s *boundedStream) SendMsg(message any) error {
	m, ok := message.(proto.Message)
	if !ok {
		return status.Errorf(codes.Internal, "send a %T: it is no message", message)
	}
	size := proto.Size(m)
	needs := weight(size)
	if !s.large.try(needs) {
		if err := s.await(needs); err != nil {
			return err
		}
	}
	a, err := s.encode(m, size, needs)
	if err != nil {
		s.large.release(needs)
		return err
	}
	s.end()
	if err := s.ServerStream.SendMsg(a); err != nil {
		return err
	}
	return s.begin()
}

// await waits until there is room for a message that is made already, without taking processor time. Few of these may wait at once.
func (s *boundedStream) await(needs int64) error {
	if !s.built.TryAcquire(1) {
		return status.Errorf(codes.ResourceExhausted, "%d large messages wait already until others have been read; ask again later", maxBuilt)
	}
	defer s.built.Release(1)
	s.end()
	if err := s.large.acquire(s.Context(), needs); err != nil {
		return err
	}
	if err := s.begin(); err != nil {
		s.large.release(needs)
		return err
	}
	return nil
}

// RecvMsg lets others work until the client has asked.
func (s *boundedStream) RecvMsg(message any) error {
	s.end()
	if err := s.ServerStream.RecvMsg(message); err != nil {
		return err
	}
	return s.begin()
}
