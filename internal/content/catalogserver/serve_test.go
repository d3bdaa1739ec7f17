package catalogserver

import (
	"context"
	"io/fs"
	"log/slog"
	"net"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// quiet is a log that nobody reads.
var quiet = slog.New(slog.DiscardHandler)

// indexOf builds the index of a tree, in a file.
func indexOf(t testing.TB, tree fs.FS, digest string) *catalog.Index {
	t.Helper()
	x := must.Value(catalog.Build(t.Context(), tree, digest, filepath.Join(t.TempDir(), "index"), catalog.LoadOptions{}))(t)
	return x
}

// yamlIndex is the index of a catalog of one file.
func yamlIndex(t testing.TB, content string) *catalog.Index {
	t.Helper()
	return indexOf(t, fstest.MapFS{"catalog.yaml": {Data: []byte(content)}}, "sha256:"+t.Name())
}

// served are servers of the catalogs of a set.
type served struct {
	set     *Set
	health  *Health
	address string // of gRPC
	url     string // of HTTP
}

// serve serves catalogs on loopback until the test ends.
func serve(t testing.TB, catalogs map[string]*catalog.Index) served {
	t.Helper()
	s := served{set: &Set{Now: func() time.Time { return time.Unix(1_700_000_000, 0) }}, health: NewHealth()}
	for name, x := range catalogs {
		s.set.Publish(name, x)
	}
	s.health.Set(true)
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	calls := NewGRPC(s.set, s.health, quiet, GRPCOptions{Work: make(Work, 1), stall: time.Second})
	go calls.Serve(listener)
	t.Cleanup(calls.Stop)
	web := httptest.NewUnstartedServer(nil)
	web.Config = NewHTTP(s.set, s.health, quiet)
	web.Start()
	t.Cleanup(web.Close)
	s.address, s.url = listener.Addr().String(), web.URL
	return s
}

// dial connects to a gRPC server.
func dial(t testing.TB, address string, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn := must.Value(grpc.NewClient("passthrough:///"+address, append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))...))(t)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// soon is a context for what should not take long.
func soon(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}
