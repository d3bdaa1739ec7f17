package catalogsource

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"fairlead.dev/fairlead/test/must"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/grpccatalog"
	"fairlead.dev/fairlead/internal/messages"
)

// TestProblemsAreShort, however much specs, catalogs and servers have to say: everybody who asks why a package is not there gets them.
func TestProblemsAreShort(t *testing.T) {
	var broken strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&broken, "---\n{schema: olm.package, name: p%d, defaultChannel: none}\n", i)
	}
	for name, test := range map[string]struct {
		spec v1alpha1.CatalogSourceSpec
		want string
	}{
		"a spec":    {v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceType(strings.Repeat("x", 1<<16))}, "xxx"},
		"a catalog": {v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeConfigmap, ConfigMap: "content"}, "holds no usable package"},
		"a server":  {v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Address: "registry.example.com:50051"}, "no, because"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newStandbyWorld(t)
			w.write(map[string]string{"catalog.yaml": broken.String()}, "2")
			attempts := 0
			w.dial = func(string, grpccatalog.Options) (*grpccatalog.Client, error) {
				attempts++
				return nil, fmt.Errorf("read tcp 10.0.0.1:%d->10.0.0.2:443: no, because %s", 40000+attempts, strings.Repeat("ä", 1<<20))
			}
			w.ask(test.spec)
			heard := 0
			w.Contents.OnChange(func(catalog.Ref) { heard++ })
			for range 3 {
				w.looks(false)
				w.clock.Step(catalogstore.LongestRetry)
			}
			e, _ := w.Contents.Get(standbyRef)
			if len(e.Problem) > messages.MaxStatus+100 || !utf8.ValidString(e.Problem) || !strings.Contains(e.Problem, test.want) || !strings.Contains(e.Problem, "bytes more)") {
				t.Errorf("%d bytes: %.200q", len(e.Problem), e.Problem)
			}
			must.Equal(t, "the same trouble is told", heard, 1)
		})
	}
}
