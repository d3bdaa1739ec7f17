package catalogserver_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/test/bigcatalog"
	"fairlead.dev/fairlead/test/must"
)

// BenchmarkServe prints what it costs to start a server of the largest catalog, beside what it costs the other implementation.
func BenchmarkServe(b *testing.B) {
	dir, what := catalogDir(b)
	b.Run("cold", func(b *testing.B) {
		start(b, dir, what, b.TempDir, "26.9 s to ready, 778 resident-MB; the bound is 4 s, 100 resident-MB")
	})
	cacheDir := b.TempDir()
	startChild(b, dir, cacheDir).stop()
	b.Run("warm", func(b *testing.B) {
		start(b, dir, what, func() string { return cacheDir }, "10.8 s to ready, 765 resident-MB; the bound is 0.2 s, 100 resident-MB")
	})
}

func catalogDir(b *testing.B) (dir, what string) {
	b.Helper()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		b.Skip("the memory of a process can only be read on Linux")
	}
	dir, what = bigcatalog.Dir(b)
	time.Sleep(2 * time.Second) // files that were just written are not believed by their times
	return dir, what
}

func start(b *testing.B, dir, what string, cacheDir func() string, beat string) {
	var ready time.Duration
	var resident float64
	for b.Loop() {
		c := startChild(b, dir, cacheDir())
		time.Sleep(2 * time.Second)
		ready, resident = ready+c.ready, max(resident, c.resident(b))
		c.stop()
	}
	b.ReportMetric(0, "ns/op") // it includes the pause
	b.ReportMetric(ready.Seconds()/float64(b.N), "s-to-ready")
	b.ReportMetric(resident, "resident-MB")
	b.Logf("%s; the other one: %s", what, beat)
}

// BenchmarkCalls prints what calls cost a client of the largest catalog, beside what they cost the other implementation. Client and
// server share the machine in both cases.
func BenchmarkCalls(b *testing.B) {
	dir, what := catalogDir(b)
	c := startChild(b, dir, b.TempDir())
	defer c.stop()
	client := registry.NewRegistryClient(c.conn)
	bundles := listBundles(b, client)
	heads, gvks := headsAndAPIs(b, client, bundles)
	for _, row := range []struct {
		name, beat string
		calls      []func() error
	}{
		{"ListBundles", "593 p50-ms", repeat(5, func() error { listBundles(b, client); return nil })},
		{"GetBundle of heads", "0.38 p50-ms, 3.3 p99-ms", getBundles(b, client, heads)},
		{"GetPackage", "0.24 p50-ms, 1.1 p99-ms", getPackages(b, client, bundles)},
		{"GetChannelEntriesThatProvide", "420 p50-ms", getProviders(b, client, gvks)},
		{"GetDefaultBundleThatProvides", "29 p50-ms", getDefault(b, client, gvks)},
		{"HTTP all", "nothing alike", repeat(3, func() error { return download(c.url + "/api/v1/all") })},
		{"HTTP metas of a package", "nothing alike", repeat(20, func() error { return download(c.url + "/api/v1/metas?package=" + heads[0].GetPkgName()) })},
	} {
		b.Run(row.name, func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				for _, call := range row.calls {
					begin := time.Now()
					must.NoError(b, call())
					times = append(times, time.Since(begin))
				}
			}
			slices.Sort(times)
			b.ReportMetric(0, "ns/op") // it is that of all calls together
			b.ReportMetric(milliseconds(times[len(times)/2]), "p50-ms")
			b.ReportMetric(milliseconds(times[len(times)*99/100]), "p99-ms")
			b.ReportMetric(c.resident(b), "resident-MB")
			b.Logf("%s, %d calls; the other one: %s, 776 resident-MB", what, len(times), row.beat)
		})
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func repeat(n int, call func() error) []func() error {
	return slices.Repeat([]func() error{call}, n)
}

func listBundles(b *testing.B, client registry.RegistryClient) []*registry.Bundle {
	stream, err := client.ListBundles(b.Context(), &registry.ListBundlesRequest{})
	return receive(b, stream, err)
}

// receive reads a stream to its end.
func receive[T any](b *testing.B, stream grpc.ServerStreamingClient[T], err error) []*T {
	must.NoError(b, err)
	var all []*T
	for {
		message, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return all
		}
		must.NoError(b, err)
		all = append(all, message)
	}
}

// headsAndAPIs are the heads of all channels, and some of the APIs that they provide.
func headsAndAPIs(b *testing.B, client registry.RegistryClient, bundles []*registry.Bundle) (heads []*registry.GetBundleRequest, gvks []*registry.GroupVersionKind) {
	names := map[string]bool{}
	for _, bundle := range bundles {
		name := bundle.GetPackageName()
		if names[name] {
			continue
		}
		names[name] = true
		p := must.Value(client.GetPackage(b.Context(), &registry.GetPackageRequest{Name: name}))(b)
		for _, channel := range p.GetChannels() {
			heads = append(heads, &registry.GetBundleRequest{PkgName: name, ChannelName: channel.GetName(), CsvName: channel.GetCsvName()})
			if channel.GetName() == p.GetDefaultChannelName() {
				head := must.Value(client.GetBundle(b.Context(), heads[len(heads)-1]))(b)
				gvks = append(gvks, head.GetProvidedApis()...)
			}
		}
	}
	return heads, gvks[:min(len(gvks), 200)]
}

func getBundles(b *testing.B, client registry.RegistryClient, requests []*registry.GetBundleRequest) (calls []func() error) {
	for _, r := range requests {
		calls = append(calls, func() error { _, err := client.GetBundle(b.Context(), r); return err })
	}
	return calls
}

func getPackages(b *testing.B, client registry.RegistryClient, bundles []*registry.Bundle) (calls []func() error) {
	for _, bundle := range bundles {
		calls = append(calls, func() error {
			_, err := client.GetPackage(b.Context(), &registry.GetPackageRequest{Name: bundle.GetPackageName()})
			return err
		})
	}
	return calls
}

func getProviders(b *testing.B, client registry.RegistryClient, gvks []*registry.GroupVersionKind) (calls []func() error) {
	for _, g := range gvks {
		calls = append(calls, func() error {
			stream, err := client.GetChannelEntriesThatProvide(b.Context(), &registry.GetAllProvidersRequest{Group: g.GetGroup(), Version: g.GetVersion(), Kind: g.GetKind()})
			receive(b, stream, err)
			return nil
		})
	}
	return calls
}

func getDefault(b *testing.B, client registry.RegistryClient, gvks []*registry.GroupVersionKind) (calls []func() error) {
	for _, g := range gvks {
		calls = append(calls, func() error {
			_, err := client.GetDefaultBundleThatProvides(b.Context(), &registry.GetDefaultProviderRequest{Group: g.GetGroup(), Version: g.GetVersion(), Kind: g.GetKind()})
			return err
		})
	}
	return calls
}

// download reads an answer to its end.
func download(url string) error {
	answer, err := http.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}
