package catalogserver

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// heavy is a catalog whose only bundle has manifests of about so many bytes.
func heavy(t testing.TB, size int) *catalog.Index {
	t.Helper()
	var text strings.Builder
	text.WriteString("schema: olm.package\nname: p\ndefaultChannel: stable\n---\nschema: olm.channel\npackage: p\nname: stable\nentries: [{name: p.v1.0.0}]\n" +
		"---\nschema: olm.bundle\npackage: p\nname: p.v1.0.0\nproperties:\n- {type: olm.package, value: {packageName: p, version: 1.0.0}}\n")
	const part = 512 << 10
	for i := range size/part + 1 {
		manifest := fmt.Sprintf(`{"kind":"ConfigMap","metadata":{"name":"m%d"},"data":{"x":%q}}`, i, strings.Repeat("x", part))
		fmt.Fprintf(&text, "- {type: olm.bundle.object, value: {data: %s}}\n", base64.StdEncoding.EncodeToString([]byte(manifest)))
	}
	return indexOf(t, fstest.MapFS{"catalog.yaml": {Data: []byte(text.String())}}, "sha256:heavy")
}

func TestBundlesLargerThanTheUsualLimitAreSent(t *testing.T) {
	client := registry.NewRegistryClient(dial(t, serve(t, map[string]*catalog.Index{"c": heavy(t, 8<<20)}).address))
	request := &registry.GetBundleRequest{PkgName: "p", ChannelName: "stable", CsvName: "p.v1.0.0"}
	b, err := client.GetBundle(soon(t), request, grpc.MaxCallRecvMsgSize(64<<20))
	must.NoErrorf(t, err, "got objects")
	must.Equal(t, "objects", len(b.GetObject()), 17)
	if _, err := client.GetBundle(soon(t), request); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a client with the usual limit got %v; the bundle is too small for this test", err)
	}
}

func TestLargeRequestsAreRefused(t *testing.T) {
	client := registry.NewRegistryClient(dial(t, serve(t, map[string]*catalog.Index{"c": onePackage(t, "p")}).address))
	_, err := client.GetPackage(soon(t), &registry.GetPackageRequest{Name: strings.Repeat("p", maxRequestBytes)})
	must.Equal(t, "code", status.Code(err), codes.ResourceExhausted)
}

// manyChannels is a catalog whose list of bundles is more than fits into the buffers between a server and a client that does not read.
func manyChannels(t testing.TB) *catalog.Index {
	t.Helper()
	var channels strings.Builder
	channels.WriteString("schema: olm.package\nname: p\ndefaultChannel: c0\n")
	for i := range 3000 {
		fmt.Fprintf(&channels, "---\nschema: olm.channel\npackage: p\nname: c%d\nentries: [{name: p.v1.0.0}]\n", i)
	}
	fmt.Fprintf(&channels, "---\nschema: olm.bundle\npackage: p\nname: p.v1.0.0\nimage: quay.io/example/p:v1\nproperties:\n"+
		"- {type: olm.package, value: {packageName: p, version: 1.0.0}}\n- {type: large, value: %s}\n", strings.Repeat("x", 2000))
	return yamlIndex(t, channels.String())
}

// TestStreamsThatNobodyReadsEnd asks for more than fits into the buffers on the way, and reads only one message of it.
func TestStreamsThatNobodyReadsEnd(t *testing.T) {
	s := serve(t, map[string]*catalog.Index{"c": manyChannels(t)})
	stream, err := registry.NewRegistryClient(dial(t, s.address)).ListBundles(soon(t), &registry.ListBundlesRequest{})
	must.NoError(t, err)
	must.Value(stream.Recv())(t)
	time.Sleep(2 * time.Second) // twice the limit of the server under test
	n := 0
	for err == nil {
		_, err = stream.Recv()
		n++
	}
	if status.Code(err) != codes.Unavailable {
		t.Errorf("after %d messages more: %v, want a closed connection", n, err)
	}
}

// TestDownloadsThatNobodyReadsEnd does the same over HTTP.
func TestDownloadsThatNobodyReadsEnd(t *testing.T) {
	conn := &stuckConn{}
	w := &deadlineWriter{ResponseWriter: conn, time: time.Minute}
	before := time.Now()
	w.extend()
	for range 3 * progressBytes / 1000 {
		must.Value(w.Write(make([]byte, 1000)))(t)
	}
	must.Equal(t, "the deadline was set times", len(conn.deadlines), 3)
	for _, d := range conn.deadlines {
		if d.Before(before.Add(time.Minute)) || d.After(time.Now().Add(time.Minute)) {
			t.Errorf("deadline %v", d)
		}
	}
}

// stuckConn is a ResponseWriter with deadlines.
type stuckConn struct {
	bytes.Buffer
	deadlines []time.Time
}

func (c *stuckConn) Header() http.Header { return http.Header{} }
func (c *stuckConn) WriteHeader(int)     {}
func (c *stuckConn) SetWriteDeadline(d time.Time) error {
	c.deadlines = append(c.deadlines, d)
	return nil
}

// TestHTTPClientThatReadsNothingIsLeft shows that a deadline really ends an answer.
func TestHTTPClientThatReadsNothingIsLeft(t *testing.T) {
	ended := make(chan error, 1)
	server := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		d := &deadlineWriter{ResponseWriter: w, time: 200 * time.Millisecond}
		d.extend()
		var err error
		for err == nil {
			_, err = d.Write(make([]byte, 64<<10))
		}
		ended <- err
	})}
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	go server.Serve(listener)
	defer server.Close()
	conn := must.Value(net.Dial("tcp", listener.Addr().String()))(t)
	defer conn.Close()
	must.Value(io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"))(t)
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the answer goes on")
	}
}
