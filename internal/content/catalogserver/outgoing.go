package catalogserver

import (
	"runtime"

	"fairlead.dev/fairlead/internal/messages"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec that the one here adds to
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Small messages of a call are encoded into chunks of memory that they share. Buffers of less than trackedBytes are not tracked by the gRPC
// library: it does not report when they are written.
const (
	chunkBytes   = 16 << 10
	trackedBytes = 1<<10 + 1
)

// outgoing is an encoded message. It is the pool of the buffer that the gRPC library gets, so that it is called once that is written.
type outgoing struct {
	data   []byte
	pooled *[]byte // what data is in, if it returns to the pool of the library
	of     *delivery
	held   int64 // of the room for large messages
	unused runtime.Cleanup
}

// encoder encodes the messages of one call.
type encoder struct {
	*delivery
	chunk []byte // the rest of it is free
}

// encode encodes a message whose size was just computed, for which so many bytes of the room for large messages are taken, and counts it until
// it is written.
func (e *encoder) encode(m proto.Message, size int, held int64) (*outgoing, error) {
	a := &outgoing{of: e.delivery, held: held}
	var into []byte
	if size >= trackedBytes {
		a.pooled = mem.DefaultBufferPool().Get(size)
		into = (*a.pooled)[:0]
	} else {
		if cap(e.chunk) < trackedBytes {
			size := chunkBytes
			if e.chunk == nil { // the first message is the only one of most calls
				size = trackedBytes
			}
			e.chunk = make([]byte, 0, size)
		}
		into = e.chunk
	}
	var err error
	if a.data, err = (proto.MarshalOptions{UseCachedSize: true}).MarshalAppend(into, m); err != nil {
		return nil, status.Errorf(codes.Internal, "encode the answer: %v", err)
	}
	if a.pooled == nil {
		e.chunk = e.chunk[size:size:cap(e.chunk)]
	}
	e.add(held)
	// The library loses a buffer when a client cancels its call in the moment in which it is queued.
	a.unused = runtime.AddCleanup(a, func(d *delivery) { d.written(held) }, a.of)
	return a, nil
}

// Put is called once the message is written, or will not be.
func (a *outgoing) Put(*[]byte) {
	a.unused.Stop()
	if a.pooled != nil {
		mem.DefaultBufferPool().Put(a.pooled)
	}
	a.of.written(a.held)
}

// Get completes mem.BufferPool. Buffers are only ever returned to a message.
func (a *outgoing) Get(size int) *[]byte { return new(make([]byte, size)) }

// codec is that of servers, which takes encoded messages besides others.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2("proto")} }

// Marshal passes the bytes of encoded messages on.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	if a, ok := v.(*outgoing); ok {
		return mem.BufferSlice{mem.NewBuffer(&a.data, a)}, nil
	}
	return c.CodecV2.Marshal(v)
}

// brief bounds the message of an error, which may repeat what the client has sent: errors are not counted until they are read.
func brief(err error) error {
	s, ok := status.FromError(err)
	if err == nil || !ok || len(s.Message()) <= messages.MaxStatus {
		return err
	}
	return status.Error(s.Code(), messages.Brief(s.Message()))
}
