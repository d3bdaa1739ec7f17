package grpccatalog

import (
	"log/slog"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogserver"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
)

// BenchmarkPackagesOfAServer reads public catalogs from a server, heads of channels included, until their index is made: how long packages of a
// catalog at an address take to be seen. The promise is one second for a catalog of a platform.
func BenchmarkPackagesOfAServer(b *testing.B) {
	for _, archive := range []string{publicdata.OwnCatalog, publicdata.FullCatalog} {
		tree := fstest.MapFS{}
		publicdata.Each(b, archive, func(name string, content func() []byte) {
			if base := path.Base(name); !strings.HasPrefix(base, ".") {
				tree[name] = &fstest.MapFile{Data: content()}
			}
		})
		c := must.Value(catalog.Load(b.Context(), tree, catalog.LoadOptions{}))(b)
		var set catalogserver.Set
		set.Publish("c", index(b, c))
		client := dial(b, listen(b, catalogserver.NewGRPC(&set, catalogserver.NewHealth(), slog.New(slog.DiscardHandler), catalogserver.GRPCOptions{})))
		b.Run(archive, func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(float64(len(readBack(b, client).PackageNames())), "packages")
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/read")
			b.ReportMetric(1, "s-promised")
		})
	}
}
