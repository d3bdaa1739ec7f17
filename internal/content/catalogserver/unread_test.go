package catalogserver

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/protobuf/proto"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"
)

// heapBytes is how much of the heap is in use.
func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// elsewhere connects from another address of this machine.
func elsewhere(ctx context.Context, address string) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	return d.DialContext(ctx, "tcp", address)
}

// TestUnreadAnswersEnd: clients at one address make as many calls as they can on a few connections, and read none of the answers. What these
// take stays within the share of an address, the connections are closed, and another client is served meanwhile.
func TestUnreadAnswersEnd(t *testing.T) {
	bundle := &registry.GetBundleRequest{PkgName: "p", ChannelName: "stable", CsvName: "p.v1.0.0"}
	for name, attack := range map[string]struct {
		size    int
		method  string
		request proto.Message
		options []grpc.CallOption
	}{
		"unary, 1 MiB":             {1 << 20, "/api.Registry/GetBundle", bundle, nil},
		"unary, 4 MiB":             {4 << 20, "/api.Registry/GetBundle", bundle, nil},
		"unary, compressed":        {4 << 20, "/api.Registry/GetBundle", bundle, []grpc.CallOption{grpc.UseCompressor(gzip.Name)}},
		"stream of one large item": {4 << 20, "/api.Registry/ListBundles", &registry.ListBundlesRequest{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "unary, 4 MiB" {
				sweep.Nightly(t, "the other rows have the same size, compressed and in a stream, and a smaller one in the same method")
			}
			s := serve(t, map[string]*catalog.Index{"c": heavy(t, attack.size)})
			before := heapBytes()
			var conns []*grpc.ClientConn
			for range 3 {
				conn := dial(t, s.address, grpc.WithInitialWindowSize(64<<10), grpc.WithInitialConnWindowSize(64<<10), grpc.WithContextDialer(elsewhere))
				for range maxStreams {
					stream, err := conn.NewStream(soon(t), &grpc.StreamDesc{ServerStreams: true}, attack.method, attack.options...)
					if err == nil {
						err = stream.SendMsg(attack.request)
					}
					if err == nil {
						err = stream.CloseSend()
					}
					if err != nil && !errors.Is(err, io.EOF) {
						t.Fatal(err)
					}
				}
				conns = append(conns, conn)
			}
			if _, err := registry.NewRegistryClient(dial(t, s.address)).GetPackage(soon(t), &registry.GetPackageRequest{Name: "p"}); err != nil {
				t.Errorf("another client beside the answers that are not read: %v", err)
			}
			var most int64
			closed := soon(t)
			for _, conn := range conns {
				for state := conn.GetState(); state == connectivity.Ready; state = conn.GetState() {
					ctx, cancel := context.WithTimeout(closed, 200*time.Millisecond)
					conn.WaitForStateChange(ctx, state)
					cancel()
					most = max(most, heapBytes()-before)
					if closed.Err() != nil {
						t.Fatalf("the connection of a client that reads nothing stays open; the heap had %d MiB more", most>>20)
					}
				}
			}
			t.Logf("%d MiB more on the heap at most", most>>20)
			// What waits for its reader, twice for its encoded form; and what is being made, of which each has a few forms at once.
			if bound := int64(max(2*maxLarge, maxLarge+4*maxBuilt*attack.size)); most > bound {
				t.Errorf("answers that are not read took %d bytes of the heap, want less than %d", most, bound)
			}
		})
	}
}

// TestCancelledCallsTakeNothing: a client cancels its calls before, while and after their answers are queued. Not one of them goes on counting.
func TestCancelledCallsTakeNothing(t *testing.T) {
	s := serve(t, map[string]*catalog.Index{"c": heavy(t, 1<<20)})
	conn := dial(t, s.address, grpc.WithInitialWindowSize(64<<10), grpc.WithInitialConnWindowSize(64<<10))
	for i := range 10 * maxCallsPeer {
		ctx, cancel := context.WithCancel(soon(t))
		stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, "/api.Registry/GetBundle")
		if err == nil {
			err = stream.SendMsg(&registry.GetBundleRequest{PkgName: "p", ChannelName: "stable", CsvName: "p.v1.0.0"})
		}
		if err == nil {
			err = stream.CloseSend()
		}
		must.NoError(t, err)
		time.Sleep(time.Duration(i%8) * time.Millisecond)
		cancel()
	}
	if _, err := registry.NewRegistryClient(conn).GetPackage(soon(t), &registry.GetPackageRequest{Name: "p"}); err != nil {
		t.Errorf("on the same connection, after calls that were cancelled: %v", err)
	}
}
