package bundleio

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/template"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

// rebuilt copies the bundle of the examples as a rebuild of old: its version has build metadata, and an annotation names the bundle
// that it takes the place of.
func rebuilt(t testing.TB, build string) string {
	t.Helper()
	dir := exampleBundle(t)
	file := filepath.Join(dir, "manifests", "greeter-operator.clusterserviceversion.yaml")
	text := must.Value(os.ReadFile(file))(t)
	edited := strings.NewReplacer(
		"name: greeter-operator.v1.0.0\n", "name: greeter-operator.v1.0.0-"+build+"\n",
		"  annotations:\n    alm", "  annotations:\n    olm.substitutesFor: greeter-operator.v1.0.0\n    alm",
		"version: 1.0.0\n", "version: 1.0.0+"+build+"\n",
	).Replace(string(text))
	must.NoError(t, os.WriteFile(file, []byte(edited), 0o644))
	return dir
}

// TestRebuildsOfOldKeepTheirVersion demands that a rebuild is written as its author did, is found valid, and is ordered by what its
// build metadata says.
func TestRebuildsOfOldKeepTheirVersion(t *testing.T) {
	for _, level := range []catalog.MigrationLevel{catalog.MigrateNone, catalog.MigrateAll} {
		t.Run(string(level), func(t *testing.T) {
			ref := must.Value(ParseImageRef("example.com/{{.Package}}@sha256:" + strings.Repeat("0", 64)))(t)
			c := must.Value((&Renderer{Migrations: level, ImageRef: ref}).Render(t.Context(), exampleBundle(t), rebuilt(t, "0.9.p"), rebuilt(t, "0.10.p")))(t)
			channel := "schema: olm.package\nname: greeter-operator\ndefaultChannel: stable\n---\nschema: olm.channel\npackage: greeter-operator\nname: stable\nentries:\n" +
				"- name: greeter-operator.v1.0.0-0.10.p\n  skips: [greeter-operator.v1.0.0, greeter-operator.v1.0.0-0.9.p]\n" +
				"- name: greeter-operator.v1.0.0-0.9.p\n- name: greeter-operator.v1.0.0\n"
			again := must.Value(catalog.Load(t.Context(), os.DirFS(write(t, map[string]string{"bundles.yaml": text(t, c), "channels.yaml": channel})), catalog.LoadOptions{}))(t)
			must.Empty(t, "problems", catalog.Validate(again))
			for i, want := range []string{`{"packageName":"greeter-operator","version":"1.0.0"}`, `{"packageName":"greeter-operator","version":"1.0.0+0.9.p"}`,
				`{"packageName":"greeter-operator","version":"1.0.0+0.10.p"}`} {
				if got := packageValue(c.Bundles[i]); got != want {
					t.Errorf("bundle %s has the property %s, want %s", c.Bundles[i].Name, got, want)
				}
				if i == 0 {
					continue
				}
				older := must.Value(c.Bundles[i-1].VersionRelease())(t)
				if newer, err := c.Bundles[i].VersionRelease(); err != nil || older.Compare(newer) >= 0 {
					t.Errorf("%s is not older than %s (%v)", older, newer, err)
				}
			}
		})
	}
}

func packageValue(b catalog.Bundle) string {
	for _, p := range b.Properties {
		if p.Type == catalog.PropertyPackage {
			return string(p.Value)
		}
	}
	return ""
}

// TestTemplatesWithRebuildsOfOld: a template orders rebuilds, and lets one take the place of its base, without another version.
func TestTemplatesWithRebuildsOfOld(t *testing.T) {
	host := pushedRegistry(t)
	for tag, dir := range map[string]string{"base": exampleBundle(t), "nine": rebuilt(t, "9"), "ten": rebuilt(t, "10")} {
		labels := image.BundleLabels("greeter-operator", []string{"stable"}, "")
		must.Value(image.Push(t.Context(), host+"/greeter:"+tag, os.DirFS(dir), labels, image.PushOptions{}))(t)
	}
	semver := "schema: olm.semver\nstable:\n  bundles:\n  - image: HOST/greeter:ten\n  - image: HOST/greeter:base\n  - image: HOST/greeter:nine\n"
	substitutes := `
schema: olm.template.substitutes
entries:
- {schema: olm.package, name: greeter-operator, defaultChannel: stable}
- {schema: olm.channel, package: greeter-operator, name: stable, entries: [{name: greeter-operator.v1.0.0}]}
- schema: olm.bundle
  package: greeter-operator
  name: greeter-operator.v1.0.0
  image: HOST/greeter:base
  properties:
  - {type: olm.package, value: {packageName: greeter-operator, version: 1.0.0}}
substitutions:
- {name: "HOST/greeter:nine", base: greeter-operator.v1.0.0}
- {name: "HOST/greeter:ten", base: greeter-operator.v1.0.0-9}
`
	for name, content := range map[string]string{"semver": semver, "substitutes": substitutes} {
		t.Run(name, func(t *testing.T) {
			r := &Renderer{Store: store(t), Migrations: catalog.MigrateAll}
			c := must.Value(template.Render(t.Context(), strings.NewReader(strings.ReplaceAll(content, "HOST", host)), template.Options{Bundles: r.Bundle}))(t)
			must.NoErrorf(t, catalog.Validate(c).Err(), "problems")
			x := must.Value(catalog.NewIndex(c, "sha256:0"))(t)
			p, ok := x.Package("greeter-operator")
			if !ok {
				t.Fatal("the package is not served")
			}
			must.Equal(t, "the head", p.Channels[0].Head, "greeter-operator.v1.0.0-10")
			if b, _ := x.Bundle("greeter-operator", "greeter-operator.v1.0.0-10"); b == nil || b.VersionText != "1.0.0+10" {
				t.Errorf("the bundle is %+v", b)
			}
		})
	}
}
