package image

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// benchmarkImage pushes files to a new registry.
func benchmarkImage(b *testing.B, contents map[string][]byte, labels map[string]string) string {
	b.Helper()
	r := newTestRegistry(b)
	files := must.Value(Files(contents))(b)
	ref := r.host + "/bench/image:v1"
	must.Value(Push(context.Background(), ref, files, labels, PushOptions{}))(b)
	return ref
}

func bundleContents() map[string][]byte {
	contents := map[string][]byte{}
	for i := range 20 {
		contents[fmt.Sprintf("manifests/%02d.yaml", i)] = []byte(strings.Repeat("key: value\n", 1000))
	}
	return contents
}

// catalogContents is about as large as the largest public catalog in YAML.
func catalogContents() map[string][]byte {
	contents := map[string][]byte{}
	for i := range 300 {
		var text strings.Builder
		for line := range 12_000 {
			fmt.Fprintf(&text, "- name: package%d.v%d\n  image: quay.io/x/y\n", i, line)
		}
		contents[fmt.Sprintf("configs/package%d/catalog.yaml", i)] = []byte(text.String())
	}
	return contents
}

func benchmarkPull(b *testing.B, ref string, o PullOptions, fresh bool) {
	s := openStore(b, Config{})
	for b.Loop() {
		if fresh {
			s = openStore(b, Config{})
		}
		image := must.Value(s.Pull(context.Background(), ref, o))(b)
		_ = image.Close()
	}
}

func BenchmarkPullBundle(b *testing.B) {
	ref := benchmarkImage(b, bundleContents(), BundleLabels("p", nil, ""))
	b.Run("new", func(b *testing.B) { benchmarkPull(b, ref, PullOptions{Select: SelectBundle}, true) })
	b.Run("stored", func(b *testing.B) { benchmarkPull(b, ref, PullOptions{Select: SelectBundle}, false) })
}

func BenchmarkPullCatalog(b *testing.B) {
	contents := catalogContents()
	ref := benchmarkImage(b, contents, CatalogLabels())
	var size int64
	for _, data := range contents {
		size += int64(len(data))
	}
	b.Run("new", func(b *testing.B) {
		b.SetBytes(size)
		benchmarkPull(b, ref, PullOptions{Select: SelectCatalog}, true)
	})
	b.Run("stored", func(b *testing.B) {
		b.SetBytes(size)
		benchmarkPull(b, ref, PullOptions{Select: SelectCatalog}, false)
	})
}

func BenchmarkPush(b *testing.B) {
	r := newTestRegistry(b)
	for name, contents := range map[string]map[string][]byte{"bundle": bundleContents(), "catalog": catalogContents()} {
		files := must.Value(Files(contents))(b)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				must.Value(Push(context.Background(), r.host+"/bench/"+name+":v1", files, nil, PushOptions{}))(b)
			}
		})
	}
}
