package template

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
)

const whole = `
schema: olm.package
name: p
defaultChannel: stable
---
schema: olm.channel
package: p
name: stable
entries:
- name: p.v1.1.0
  replaces: p.v1.0.0
- name: p.v1.0.0
---
schema: olm.bundle
package: p
name: p.v1.1.0
image: example.com/p:1.1.0
properties:
- type: olm.package
  value: {packageName: p, version: 1.1.0}
---
schema: olm.bundle
package: p
name: p.v1.0.0
image: example.com/p:1.0.0
properties:
- type: olm.package
  value: {packageName: p, version: 1.0.0}
---
schema: custom
value: <b>
`

func load(t *testing.T, text string) *catalog.Catalog {
	t.Helper()
	c := must.Value(catalog.LoadFile(t.Context(), "catalog.yaml", strings.NewReader(text), catalog.LoadOptions{}))(t)
	return c
}

func text(t *testing.T, c *catalog.Catalog) string {
	t.Helper()
	var out bytes.Buffer
	must.NoError(t, catalog.WriteYAML(&out, c))
	return out.String()
}

func TestConvertedTemplatesRenderToTheCatalog(t *testing.T) {
	for _, kind := range []Type{Basic, Substitutes} {
		for _, format := range []Format{JSON, YAML} {
			t.Run(string(kind)+" "+string(format), func(t *testing.T) {
				c := load(t, whole)
				var out bytes.Buffer
				must.NoError(t, Convert(&out, c, kind, format))
				again := must.Value(Render(t.Context(), &out, Options{Type: kind, Bundles: source}))(t)
				must.Equal(t, "text(t, again)", text(t, again), text(t, c))
			})
		}
	}
}

func TestABasicTemplateHoldsNoMoreThanImages(t *testing.T) {
	var out bytes.Buffer
	must.NoError(t, Convert(&out, load(t, whole), Basic, YAML))
	const want = `schema: olm.template.basic
entries:
- schema: olm.package
  name: p
  defaultChannel: stable
- schema: olm.channel
  name: stable
  package: p
  entries:
  - name: p.v1.1.0
    replaces: p.v1.0.0
  - name: p.v1.0.0
- schema: olm.bundle
  image: example.com/p:1.0.0
- schema: olm.bundle
  image: example.com/p:1.1.0
- schema: custom
  value: "<b>"
`
	must.Equal(t, "template", out.String(), want)
}

func TestConvertRefuses(t *testing.T) {
	inline := &catalog.Catalog{Bundles: []catalog.Bundle{{Name: "p.v1", Package: "p"}}}
	tests := map[string]struct {
		c    *catalog.Catalog
		to   Type
		want string
	}{
		"a type that says less than a catalog": {&catalog.Catalog{}, Semver, "choose basic or substitutes"},
		"nothing":                              {&catalog.Catalog{}, Basic, "there is no object of a catalog in it"},
		"a bundle that no image holds":         {inline, Basic, `bundle "p.v1" of package "p" has no image`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := Convert(&bytes.Buffer{}, test.c, test.to, JSON)
			must.Fail(t, "Convert", err, test.want)
		})
	}
}

// FuzzRender holds templates to what must be true of all of them: the same result each time, positions within the text, and for
// semver templates a catalog without errors.
func FuzzRender(f *testing.F) {
	f.Add("schema: olm.semver\ngenerateMajorChannels: yes\nfast:\n  bundles:\n  - image: example.com/p:1.0.0\n  - image: example.com/p:1.0.1-r2\n")
	f.Add("schema: olm.template.basic\nentries:\n- schema: olm.bundle\n  image: example.com/p:1.0.0\n")
	f.Add(`{"schema":"olm.template.substitutes","entries":[{"schema":"x"}],"substitutions":[{"name":"example.com/p:1","base":"b"}]}`)
	f.Add("schema: &a olm.template.basic\nentries: [{schema: *a}]\n--- \n- b")
	f.Fuzz(func(t *testing.T, template string) {
		lines := strings.Count(template, "\n") + 1
		c, err := Render(context.Background(), strings.NewReader(template), Options{File: "t", Bundles: source})
		again, errAgain := Render(context.Background(), strings.NewReader(template), Options{File: "t", Bundles: source, Workers: 1})
		if (err == nil) != (errAgain == nil) || err != nil && err.Error() != errAgain.Error() {
			t.Fatalf("errors differ: %v and %v", err, errAgain)
		}
		if err != nil {
			return
		}
		if diff := cmp.Diff(text(t, c), text(t, again)); diff != "" {
			t.Fatalf("results differ:\n%s", diff)
		}
		c.EachPosition(func(p *catalog.Position) {
			if p.File != "t" || p.Line < 1 || p.Line > lines {
				t.Fatalf("position %s of %d lines", p, lines)
			}
		})
		if len(c.Packages) == 1 && strings.HasPrefix(c.Packages[0].Description, "All about") {
			must.NoErrorf(t, catalog.Validate(c).Err(), "a semver template made an invalid catalog")
		}
	})
}
