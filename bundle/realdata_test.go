package bundle

import (
	"maps"
	"path"
	"slices"
	"sync"
	"testing"

	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
)

// loaded are the public bundles that have been loaded, by <package>/<version>.
var loaded struct {
	sync.Mutex
	bundles map[string]*Bundle
}

// loadReal loads a public bundle once for all tests, which must not change it.
func loadReal(t testing.TB, name string) *Bundle {
	t.Helper()
	files := publicdata.BundleTrees(t)[name]
	loaded.Lock()
	defer loaded.Unlock()
	if b := loaded.bundles[name]; b != nil {
		return b
	}
	b := must.Value(Load(files))(t)
	if loaded.bundles == nil {
		loaded.bundles = map[string]*Bundle{}
	}
	loaded.bundles[name] = b
	return b
}

// eachRealBundle runs a subtest for each public bundle, in order. The last of each package is marked.
func eachRealBundle(t *testing.T, test func(t *testing.T, b *Bundle, last bool)) {
	names := slices.Sorted(maps.Keys(publicdata.BundleTrees(t)))
	if len(names) < 138 {
		t.Errorf("%d public bundles, want 138 at least", len(names))
	}
	for i, name := range names {
		last := i+1 == len(names) || path.Dir(names[i+1]) != path.Dir(name)
		t.Run(name, func(t *testing.T) { test(t, loadReal(t, name), last) })
	}
}
