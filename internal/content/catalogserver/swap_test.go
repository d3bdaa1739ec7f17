package catalogserver

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"google.golang.org/grpc"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// generation is a catalog all of whose objects say which one it is.
func generation(n int) fstest.MapFS {
	var text strings.Builder
	fmt.Fprintf(&text, "schema: olm.package\nname: p\ndefaultChannel: stable\ndescription: g%d\n---\nschema: olm.channel\npackage: p\nname: stable\nentries:\n", n)
	for i := range 50 {
		fmt.Fprintf(&text, "- {name: p.v%d.%d.0, skips: [p.v%d.%d.0]}\n", n, i, n, i-1)
	}
	for i := range 50 {
		fmt.Fprintf(&text, "---\nschema: olm.bundle\npackage: p\nname: p.v%d.%d.0\nimage: quay.io/example/p:g%d\nproperties:\n"+
			"- {type: olm.package, value: {packageName: p, version: %d.%d.0}}\n- {type: olm.csv.metadata, value: {displayName: g%d}}\n", n, i, n, n, i, n)
	}
	return fstest.MapFS{"catalog.yaml": {Data: []byte(text.String())}}
}

// TestContentIsExchangedWhileItIsRead exchanges the content again and again, and removes the files of those before, while clients read.
// Every answer is of one content, from its beginning to its end.
func TestContentIsExchangedWhileItIsRead(t *testing.T) {
	const generations, clients = 40, 4
	dir := t.TempDir()
	build := func(n int) *catalog.Index {
		path := filepath.Join(dir, fmt.Sprint(n))
		x := must.Value(catalog.Build(t.Context(), generation(n), fmt.Sprintf("sha256:%d", n), path, catalog.LoadOptions{}))(t)
		must.NoError(t, os.Remove(path))
		return x
	}
	s := serve(t, map[string]*catalog.Index{"c": build(0)})
	var stop atomic.Bool
	var answers atomic.Int64
	var all sync.WaitGroup
	for range clients {
		conn := dial(t, s.address)
		all.Go(func() {
			for !stop.Load() {
				readBundles(t, conn)
				answers.Add(1)
			}
		})
		all.Go(func() {
			for !stop.Load() {
				readObjects(t, s.url)
				answers.Add(1)
			}
		})
	}
	for n := 1; n < generations; n++ {
		for before := answers.Load(); answers.Load() < before+clients && !t.Failed(); {
			// each content is read some times
		}
		s.set.Publish("c", build(n))
	}
	stop.Store(true)
	all.Wait()
}

// readBundles lists all bundles and reads one with its metadata.
func readBundles(t *testing.T, conn *grpc.ClientConn) {
	client := registry.NewRegistryClient(conn)
	stream, err := client.ListBundles(t.Context(), &registry.ListBundlesRequest{})
	if err != nil {
		t.Error(err)
		return
	}
	image, n := "", 0
	for {
		b, err := stream.Recv()
		if err == io.EOF {
			break
		}
		if err != nil || image != "" && b.GetBundlePath() != image {
			t.Errorf("got %v, %v after bundles with image %s", b, err, image)
			return
		}
		image, n = b.GetBundlePath(), n+1
	}
	must.Equal(t, "bundles", n, 50)
	b, err := client.GetBundleForChannel(t.Context(), &registry.GetBundleInChannelRequest{PkgName: "p", ChannelName: "stable"}) //nolint:staticcheck // SA1019: clients use it
	if _, tag, _ := strings.Cut(b.GetBundlePath(), ":"); err != nil || !strings.Contains(b.GetCsvJson(), `"displayName":"`+tag+`"`) {
		t.Errorf("got %v, %v", b, err)
	}
}

// readObjects reads the whole catalog over HTTP.
func readObjects(t *testing.T, url string) {
	answer, err := http.Get(url + "/api/v1/all")
	if err != nil {
		t.Error(err)
		return
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Error(err)
		return
	}
	_, rest, _ := strings.Cut(string(body), `"description":"`)
	tag, _, _ := strings.Cut(rest, `"`)
	must.Equal(t, tag, strings.Count(string(body), `"quay.io/example/p:`+tag+`"`), 50)
}
