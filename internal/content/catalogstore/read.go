package catalogstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"fairlead.dev/fairlead/bundle/packagemanifest"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"
)

// The keys of the older form.
const (
	keyCRDs     = "customResourceDefinitions"
	keyCSVs     = "clusterServiceVersions"
	keyPackages = "packages"
)

// convertedFile holds what the older form comes to. No key of a ConfigMap has a slash.
const convertedFile = "manifests/catalog.json"

// Content is the catalog in a ConfigMap.
type Content struct {
	Files fs.FS
	// Digest changes with the content.
	Digest string
	// Warnings say which manifests were left out, or taken in another way than they are written.
	Warnings []string
	// Problems are those of the warnings that are about a package, or a part of one, that is left out: an index has to know of them, so that
	// who asks for it is not told that there is none.
	Problems catalog.Problems
}

// RuleLeftOut is the rule of the Problems: what cannot be made part of a catalog is left out.
const RuleLeftOut catalog.Rule = "manifests-left-out"

// ReadConfigMap returns the content of a ConfigMap as the files of a catalog. Of manifests all is served that can be; where that is nothing, the error
// says why.
func ReadConfigMap(ctx context.Context, data map[string]string, binary map[string][]byte) (Content, error) {
	contents := map[string][]byte{}
	for key, value := range data {
		contents[key] = []byte(value)
	}
	maps.Copy(contents, binary)
	// A digest of keys and values.
	sum := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(contents)) {
		part := sha256.Sum256(contents[key])
		fmt.Fprintf(sum, "%q %x\n", key, part)
	}
	read := Content{Digest: ("sha256:" + hex.EncodeToString(sum.Sum(nil)))}
	lists := lists{crds: contents[keyCRDs], csvs: contents[keyCSVs], packages: contents[keyPackages]}
	for _, key := range []string{keyCRDs, keyCSVs, keyPackages} {
		delete(contents, key)
	}
	if len(lists.crds)+len(lists.csvs)+len(lists.packages) > 0 {
		converted, content, err := convert(ctx, lists)
		if err != nil {
			return Content{}, err
		}
		contents[convertedFile], read.Warnings, read.Problems = converted, content.warnings, content.problems
	}
	if len(contents) == 0 {
		return Content{}, fmt.Errorf("it is empty; put a file-based catalog into it, or manifests under the keys %s, %s and %s", keyPackages, keyCSVs, keyCRDs)
	}
	var err error
	read.Files, err = image.Files(contents)
	return read, err
}

// convert makes a catalog of the older form, package by package.
func convert(ctx context.Context, l lists) ([]byte, *content, error) {
	content, err := l.read()
	if err != nil {
		return nil, nil, err
	}
	var all catalog.Catalog
	for _, p := range content.packages {
		c, err := content.convert(ctx, p)
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if err != nil {
			content.leaveOut(p.place, "package "+p.PackageName, packageObject(p.PackageName), ": "+err.Error(), "")
			continue
		}
		all.Packages = append(all.Packages, c.Packages...)
		all.Channels = append(all.Channels, c.Channels...)
		all.Bundles = append(all.Bundles, c.Bundles...)
	}
	if len(all.Packages) == 0 {
		if len(content.warnings) == 0 {
			return nil, nil, fmt.Errorf("the key %s lists no package; without one nothing can be subscribed to", keyPackages)
		}
		return nil, nil, fmt.Errorf("its manifests hold no package that can be served: %s", strings.Join(content.warnings, "; "))
	}
	var out bytes.Buffer
	if err := catalog.WriteJSON(&out, &all); err != nil {
		return nil, nil, fmt.Errorf("write the manifests as a catalog: %w", err)
	}
	return out.Bytes(), content, nil
}

// convert makes a catalog of one package, without the ClusterServiceVersions that cannot be bundles as long as there are others.
func (c *content) convert(ctx context.Context, p listed) (*catalog.Catalog, error) {
	names := c.reached(p)
	whole, err := c.convertWith(ctx, p, names, nil)
	if err == nil || ctx.Err() != nil {
		return whole, err
	}
	// The ClusterServiceVersions of a package that cannot be bundles even alone, with the reason.
	broken := map[string]error{}
	for _, name := range names {
		alone := listed{place: p.place, Package: packagemanifest.Package{PackageName: p.PackageName,
			Channels: []packagemanifest.Channel{{Name: "alone", CurrentCSV: name}}}}
		if _, err := c.convertWith(ctx, alone, []string{name}, nil); err != nil {
			broken[name] = err
		}
	}
	if len(broken) == 0 || len(broken) == len(names) {
		return nil, err
	}
	part, partErr := c.convertWith(ctx, p, names, broken)
	if partErr != nil {
		return nil, err
	}
	// Take the bundles made of outlines out of a converted package, and say so of them and of the channels that have no other.
	part.Bundles = slices.DeleteFunc(part.Bundles, func(b catalog.Bundle) bool { return broken[b.Name] != nil })
	for _, name := range c.reached(p) {
		if err := broken[name]; err != nil {
			c.leaveOut(c.operators[name].place, fmt.Sprintf("%s of package %s", name, p.PackageName),
				catalog.Object{Schema: catalog.SchemaBundle, Package: p.PackageName, Name: name}, ": "+err.Error(), "")
		}
	}
	for _, channel := range part.Channels {
		if slices.ContainsFunc(channel.Entries, func(e catalog.Entry) bool { return broken[e.Name] == nil }) {
			continue
		}
		head := channel.Entries[0].Name
		c.leaveOut(p.place, fmt.Sprintf("channel %s of package %s", channel.Name, p.PackageName),
			catalog.Object{Schema: catalog.SchemaChannel, Package: p.PackageName, Name: channel.Name},
			fmt.Sprintf(", because no ClusterServiceVersion of it can be used; of its head %s: %v", head, broken[head]), "")
	}
	return part, nil
}

// convertWith makes a catalog of a package with some ClusterServiceVersions, those of which that are broken by their outlines.
func (c *content) convertWith(ctx context.Context, p listed, names []string, broken map[string]error) (*catalog.Catalog, error) {
	// Lay a package out as a directory, and one in it for each ClusterServiceVersion with the CustomResourceDefinitions that it owns.
	// The names say where in the ConfigMap a manifest is.
	text, err := json.Marshal(p.Package)
	if err != nil {
		return nil, fmt.Errorf("write down package %s: %w", p.PackageName, err)
	}
	files := map[string][]byte{p.place + "/package.yaml": text}
	for _, name := range names {
		o := c.operators[name]
		dir := p.place + "/" + o.place + "/"
		if broken[name] != nil {
			if files[dir+"csv.json"], err = o.value.outline(o.text); err != nil {
				return nil, fmt.Errorf("outline %s: %w", name, err)
			}
			continue
		}
		files[dir+"csv.json"] = o.text
		for _, crd := range c.owned(o) {
			files[dir+crd.place+".json"] = crd.text
		}
	}
	tree, err := image.Files(files)
	if err != nil {
		return nil, err
	}
	converted, passed, err := packagemanifest.Convert(ctx, tree)
	if err != nil && len(passed) > 0 {
		return nil, fmt.Errorf("%w; %s", err, strings.Join(passed, "; ")) // a head may be missing because it was passed over
	}
	return converted, err
}

// One ClusterServiceVersion that cannot be a bundle is no reason to leave out the others of its package. In the channels it keeps its place, as
// an entry without a bundle: the order of the others depends on it.

// outline is as much of a ClusterServiceVersion as says where in a channel it is.
func (o operator) outline(text []byte) ([]byte, error) {
	var annotated struct {
		Metadata struct{ Annotations map[string]string }
	}
	_ = json.Unmarshal(text, &annotated) // where they are not texts, a range among them is not known
	metadata := map[string]any{"name": o.Metadata.Name}
	if skipRange := annotated.Metadata.Annotations[packagemanifest.SkipRangeAnnotation]; skipRange != "" {
		metadata["annotations"] = map[string]string{packagemanifest.SkipRangeAnnotation: skipRange}
	}
	return json.Marshal(map[string]any{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion", "metadata": metadata,
		"spec": map[string]any{"version": "0.0.0", "replaces": o.Spec.Replaces, "skips": o.Spec.Skips, "install": map[string]string{"strategy": "deployment"}},
	})
}

// Noted reports whether a problem of an index says what the Warnings say.
func Noted(p catalog.Problem) bool {
	return p.Rule == RuleLeftOut || p.Rule == catalog.RuleEntryWithoutBundle && p.Position.File == convertedFile
}
