package bundleio

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"text/template"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	source "fairlead.dev/fairlead/catalog/template"
)

// ParseImageRef reads a template for the image of a bundle directory. It may use {{.Package}}, {{.Name}} and {{.Version}}.
func ParseImageRef(text string) (*template.Template, error) {
	t, err := template.New("image reference").Option("missingkey=error").Parse(text)
	if err == nil {
		_, err = imageRef(t, &bundle.Bundle{})
	}
	if err != nil {
		return nil, fmt.Errorf("read the template %q of image references: %w; it may use {{.Package}}, {{.Name}} and {{.Version}}", text, err)
	}
	return t, nil
}

func imageRef(t *template.Template, b *bundle.Bundle) (string, error) {
	var out bytes.Buffer
	err := t.Execute(&out, struct{ Package, Name, Version string }{b.Package, b.Name, b.VersionText()})
	return strings.TrimSpace(out.String()), err
}

// described makes a catalog of one bundle. Manifests that migration would drop are left out beforehand: most of a bundle is CRDs.
func (r *Renderer) described(b *bundle.Bundle) (*result, error) {
	warnings, err := b.Described()
	if err != nil {
		return nil, err
	}
	convert := b.ToCatalog
	if b.Image != "" && (r.Migrations == catalog.MigrateCSVMetadata || r.Migrations == catalog.MigrateAll) {
		convert = b.ToCatalogWithCSV
	}
	converted, err := convert(b.Image)
	if err != nil {
		return nil, err
	}
	return &result{catalog: &catalog.Catalog{Bundles: []catalog.Bundle{converted}}, bundle: b, warnings: append(b.Warnings, warnings...)}, nil
}

// Bundle reads the image of a bundle, for templates.
func (r *Renderer) Bundle(ctx context.Context, ref string) (source.Bundle, error) {
	only := &Renderer{Store: r.Store, Auth: r.Auth, Allowed: BundleImage, Migrations: r.Migrations, Progress: r.Progress}
	var err error
	if only.Store, err = r.OpenStore(ctx); err != nil {
		return source.Bundle{}, err
	}
	f, err := only.one(ctx, ref)
	if err != nil {
		return source.Bundle{}, err
	}
	return source.Bundle{Bundle: f.catalog.Bundles[0], Description: f.bundle.CSV.Spec.Description, Icon: f.bundle.Icon()}, nil
}
