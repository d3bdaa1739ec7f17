package snapshot

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

var pinned = "registry.example/kite@sha256:" + strings.Repeat("a", 64)

const imageCSV = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: kite.v1.2.0}
spec:
  version: 1.2.0
  install: {strategy: deployment, spec: {deployments: []}}
`

// loadImage is a bundle of a package that brings a ConfigMap.
func loadImage(t *testing.T, pkg string) *bundle.Bundle {
	t.Helper()
	b := must.Value(bundle.Load(fstest.MapFS{
		"metadata/annotations.yaml": {Data: []byte("annotations:\n  operators.operatorframework.io.bundle.mediatype.v1: registry+v1\n  operators.operatorframework.io.bundle.package.v1: " + pkg + "\n")},
		"manifests/csv.yaml":        {Data: []byte(imageCSV)},
		"manifests/map.yaml":        {Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}")},
	}))(t)
	return b
}

func readImage(t *testing.T) *catalog.Index {
	t.Helper()
	x := must.Value(ReadBundleImage(loadImage(t, "kite"), pinned))(t)
	return x
}

func TestBundleImage(t *testing.T) {
	for name, c := range map[string]struct {
		annotations map[string]string
		want, err   string
	}{
		"none":        {map[string]string{"other": pinned}, "", ""},
		"by digest":   {map[string]string{BundleImageKey: pinned}, pinned, ""},
		"both":        {map[string]string{BundleImageKey: strings.Replace(pinned, "@", ":v1@", 1)}, strings.Replace(pinned, "@", ":v1@", 1), ""},
		"by tag":      {map[string]string{BundleImageKey: "registry.example/kite:v1"}, "", `annotation operators.fairlead.dev/bundle-image is "registry.example/kite:v1": it has no digest`},
		"by name":     {map[string]string{BundleImageKey: "registry.example/kite"}, "", "it has no digest; name the image as registry.example/kite@DIGEST"},
		"half":        {map[string]string{BundleImageKey: pinned[:40]}, "", `annotation operators.fairlead.dev/bundle-image is "` + pinned[:40]},
		"empty":       {map[string]string{BundleImageKey: ""}, "", `annotation operators.fairlead.dev/bundle-image is ""`},
		"two of them": {map[string]string{BundleImageKey: pinned + "," + pinned}, "", "annotation operators.fairlead.dev/bundle-image is"},
	} {
		t.Run(name, func(t *testing.T) {
			ext := &olmv1.ClusterExtension{}
			ext.Annotations = c.annotations
			got, err := BundleImage(ext)
			if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q, %v; want %q, %q", got, err, c.want, c.err)
			}
		})
	}
}

// wantOnly is a catalog that has nothing but the bundle, in a channel of its own that is the default.
func wantOnly(t *testing.T, x *catalog.Index, properties []string) {
	t.Helper()
	p, ok := x.Package("kite")
	if !ok || !slices.Equal(x.PackageNames(), []string{"kite"}) || p.DefaultChannel != BundleImageKey || len(p.Channels) != 1 || p.Channels[0].Name != BundleImageKey {
		t.Fatalf("the packages are %v: %+v", x.PackageNames(), p)
	}
	b, ok := x.Bundle("kite", "kite.v1.2.0")
	if !ok || b.Image != pinned || b.Version.String() != "1.2.0" {
		t.Fatalf("the bundle is %+v", b)
	}
	var got []string
	for _, p := range b.Properties {
		got = append(got, p.Type)
	}
	must.Equal(t, "properties", got, properties)
	if manifests, err := x.Manifests(b); len(manifests) > 0 || err != nil {
		t.Errorf("the catalog holds %d manifests, which the image has: %v", len(manifests), err)
	}
}

func TestReadBundleImage(t *testing.T) {
	wantOnly(t, readImage(t), []string{"olm.package"})
	if x, err := ReadBundleImage(loadImage(t, `""`), pinned); err == nil || x != nil || !strings.Contains(err.Error(), "names no package") {
		t.Errorf("a bundle of no package: %v, %v", x, err)
	}
}

func TestKnownBundleImage(t *testing.T) {
	all := map[string]string{olmv1.BundleReferenceKey: pinned, olmv1.BundleNameKey: "kite.v1.2.0", olmv1.PackageNameKey: "kite",
		PropertiesKey: `[{"type": "olm.package", "value": {"packageName": "kite", "version": "1.2.0"}}]`}
	but := func(key, value string) map[string]string {
		changed := map[string]string{}
		for k, v := range all {
			changed[k] = v
		}
		if changed[key] = value; value == "" {
			delete(changed, key)
		}
		return changed
	}
	for name, c := range map[string]struct {
		annotations map[string]string
		known       bool
	}{
		"all is told":              {all, true},
		"of another image":         {but(olmv1.BundleReferenceKey, strings.Replace(pinned, "a", "b", 1)), false},
		"of a catalog":             {but(olmv1.BundleReferenceKey, ""), false},
		"properties were too many": {but(PropertiesKey, ""), false},
		"properties are broken":    {but(PropertiesKey, "{"), false},
	} {
		t.Run(name, func(t *testing.T) {
			set := &olmv1.ClusterObjectSet{}
			set.Annotations = c.annotations
			x := KnownBundleImage(set, pinned)
			if (x != nil) != c.known {
				t.Fatalf("known: %t, want %t", x != nil, c.known)
			}
			if c.known {
				wantOnly(t, x, []string{"olm.package"})
			}
		})
	}
	if KnownBundleImage(nil, pinned) != nil {
		t.Error("no revision tells of a bundle")
	}
	for name, key := range map[string]string{"no version": PropertiesKey, "no package": olmv1.PackageNameKey, "no name": olmv1.BundleNameKey} {
		set := &olmv1.ClusterObjectSet{}
		set.Annotations = but(key, "")
		if key == PropertiesKey {
			set.Annotations[key] = "[]"
		}
		if x := KnownBundleImage(set, pinned); x != nil && len(x.PackageNames()) > 0 {
			t.Errorf("%s is told, but %v can be chosen", name, x.PackageNames())
		}
	}
}

// TestKnownIsRead: what a revision tells is decided on as what the image has.
func TestKnownIsRead(t *testing.T) {
	b, _ := readImage(t).Bundle("kite", "kite.v1.2.0")
	properties := must.Value(json.Marshal(b.Properties))(t)
	set := &olmv1.ClusterObjectSet{}
	set.Annotations = map[string]string{olmv1.BundleReferenceKey: pinned, olmv1.BundleNameKey: b.Name, olmv1.PackageNameKey: b.Package, PropertiesKey: string(properties)}
	x := KnownBundleImage(set, pinned)
	if x == nil {
		t.Fatal("unknown")
	}
	again, _ := x.Bundle("kite", "kite.v1.2.0")
	again.RelatedImages = b.RelatedImages // these do not decide
	must.Equal(t, "again", again, b)
}
