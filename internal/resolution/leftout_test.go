package resolution

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// TestAPackageLeftOutOfItsCatalog: what was left out before the catalog was indexed is not called unknown, asked for by a Subscription or needed by a
// bundle. Of a version that was left out, the reason is given where it would be preferred.
func TestAPackageLeftOutOfItsCatalog(t *testing.T) {
	const content = `{"schema":"olm.package","name":"web","defaultChannel":"stable"}
{"schema":"olm.channel","package":"web","name":"stable","entries":[{"name":"web.v1.0.0"}]}
{"schema":"olm.bundle","package":"web","name":"web.v1.0.0","image":"r/web:1","properties":[{"type":"olm.package","value":{"packageName":"web","version":"1.0.0"}},{"type":"olm.package.required","value":{"packageName":"bad","versionRange":">=1.0.0"}}]}
{"schema":"olm.package","name":"part","defaultChannel":"stable"}
{"schema":"olm.channel","package":"part","name":"stable","entries":[{"name":"part.v1.0.0"},{"name":"part.v2.0.0","replaces":"part.v1.0.0"}]}
{"schema":"olm.bundle","package":"part","name":"part.v1.0.0","image":"r/part:1","properties":[{"type":"olm.package","value":{"packageName":"part","version":"1.0.0"}}]}
`
	left := func(o catalog.Object, message string) catalog.Problem {
		return catalog.Problem{Severity: catalog.Error, Rule: "left-out", Object: o, Message: message}
	}
	known := catalog.Problems{
		left(catalog.Object{Schema: catalog.SchemaChannel, Package: "bad", Name: "stable"}, "its head is nowhere"),
		left(catalog.Object{Schema: catalog.SchemaPackage, Name: "worse"}, "its text is garbled"),
		left(catalog.Object{Schema: catalog.SchemaBundle, Package: "part", Name: "part.v2.0.0"}, "its version is no version"),
		left(catalog.Object{Schema: catalog.SchemaChannel, Package: "part", Name: "next"}, "its head is lost"),
	}
	x := must.Value(catalog.Build(t.Context(), fstest.MapFS{"c.json": {Data: []byte(content)}}, "sha256:left", filepath.Join(t.TempDir(), "index"), catalog.LoadOptions{Problems: known}))(t)
	t.Cleanup(func() { _ = x.Close() })
	ref := reference("olm/cat")
	for name, test := range map[string]struct{ pkg, channel, starting, want string }{
		"without its channels":    {"bad", "stable", "", "catalog olm/cat has the package, but nothing of it can be used: error: channel \"stable\" of package \"bad\": its head is nowhere"},
		"without its channel":     {"bad", "", "", "nothing of it can be used: error: channel \"stable\" of package \"bad\": its head is nowhere"},
		"garbled":                 {"worse", "stable", "", "nothing of it can be used: error: package \"worse\": its text is garbled"},
		"needed":                  {"web", "stable", "", "catalog olm/cat has the package, but nothing of it can be used: error: channel \"stable\" of package \"bad\": its head is nowhere"},
		"a channel of a package":  {"part", "next", "", "the catalog has the channel, but it cannot be used: error: channel \"next\" of package \"part\": its head is lost"},
		"a version of a package":  {"part", "stable", "part.v2.0.0", "its version is no version"},
		"a version that is newer": {"part", "stable", "", "its version is no version"},
	} {
		t.Run(name, func(t *testing.T) {
			r := namespace(t, NamespaceRequest{Namespace: "ns", Sources: []Source{{Ref: ref, Index: x}}, Subscriptions: []Subscription{{Name: "s", Package: test.pkg, Channel: test.channel, StartingCSV: test.starting, Catalog: ref}}})
			if text := r.String(); !strings.Contains(text, test.want) || strings.Contains(text, "correct spec.name") {
				t.Errorf("it does not say %q:\n%s", test.want, text)
			}
		})
	}
	r := namespace(t, NamespaceRequest{Namespace: "ns", Sources: []Source{{Ref: ref, Index: x}}})
	if text, hint := r.Withheld("bad"); !strings.Contains(text, "its head is nowhere") || !strings.Contains(hint, "olm/cat") {
		t.Errorf("withheld: %q, %q", text, hint)
	}
	if text, _ := r.Withheld("web"); text != "" {
		t.Errorf("a package that is served is withheld: %s", text)
	}
}
