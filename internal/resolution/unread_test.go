package resolution

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// TestUnreadBundle proves that text which cannot be read is named as the reason of what is missing because of it, asked for by a
// Subscription or needed by a bundle.
func TestUnreadBundle(t *testing.T) {
	deep := strings.Repeat(`{"all":{"constraints":[`, 60) + `{}` + strings.Repeat(`]}}`, 60)
	content := `{"schema":"olm.package","name":"web","defaultChannel":"stable"}
{"schema":"olm.channel","package":"web","name":"stable","entries":[{"name":"web.v1.0.0"}]}
{"schema":"olm.bundle","package":"web","name":"web.v1.0.0","image":"r/web:1","properties":[{"type":"olm.package","value":{"packageName":"web","version":"1.0.0"}},{"type":"olm.package.required","value":{"packageName":"deep","versionRange":">=1.0.0"}}]}
{"schema":"olm.package","name":"deep","defaultChannel":"stable"}
{"schema":"olm.channel","package":"deep","name":"stable","entries":[{"name":"deep.v1.0.0"}]}
{"schema":"olm.bundle","package":"deep","name":"deep.v1.0.0","image":"r/deep:1","properties":[{"type":"olm.package","value":{"packageName":"deep","version":"1.0.0"}},{"type":"olm.constraint","value":` + deep + `}]}
`
	x := must.Value(catalog.Build(context.Background(), fstest.MapFS{"c.json": {Data: []byte(content)}}, "sha256:deep", filepath.Join(t.TempDir(), "index"), catalog.LoadOptions{}))(t)
	t.Cleanup(func() { _ = x.Close() })
	ref := reference("olm/cat")
	for _, pkg := range []string{"deep", "web"} {
		r := namespace(t, NamespaceRequest{Namespace: "ns", Sources: []Source{{Ref: ref, Index: x}}, Subscriptions: []Subscription{{Name: "s", Package: pkg, Channel: "stable", Catalog: ref}}})
		text := r.String()
		reason := strings.Index(text, "nothing of it can be used: c.json:6: error: this is not JSON: lists and objects are nested too deeply")
		if reason < 0 || strings.Index(text, "there is no bundle for the entries") < reason {
			t.Errorf("Subscription to %s: that its bundle is nested too deeply is not the reason:\n%s", pkg, text)
		}
	}
}
