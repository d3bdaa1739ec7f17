package configmapcatalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/image"
	"fairlead.dev/fairlead/internal/packagemanifest"
)

// The keys of the older form.
const (
	keyCRDs     = "customResourceDefinitions"
	keyCSVs     = "clusterServiceVersions"
	keyPackages = "packages"
)

// convertedFile holds what the older form comes to. No key of a ConfigMap has a slash.
const convertedFile = "manifests/catalog.json"

// Read returns the content of a ConfigMap as the files of a catalog, and a digest that changes with the content.
func Read(ctx context.Context, data map[string]string, binary map[string][]byte) (fs.FS, string, error) {
	contents := map[string][]byte{}
	for key, value := range data {
		contents[key] = []byte(value)
	}
	maps.Copy(contents, binary)
	digest := digestOf(contents)
	lists := lists{crds: contents[keyCRDs], csvs: contents[keyCSVs], packages: contents[keyPackages]}
	for _, key := range []string{keyCRDs, keyCSVs, keyPackages} {
		delete(contents, key)
	}
	if !lists.empty() {
		converted, err := convert(ctx, lists)
		if err != nil {
			return nil, "", err
		}
		contents[convertedFile] = converted
	}
	if len(contents) == 0 {
		return nil, "", fmt.Errorf("it is empty; put a file-based catalog into it, or manifests under the keys %s, %s and %s", keyPackages, keyCSVs, keyCRDs)
	}
	tree, err := image.Files(contents)
	return tree, digest, err
}

// convert makes a catalog of the older form.
func convert(ctx context.Context, l lists) ([]byte, error) {
	files, err := l.layout()
	if err != nil {
		return nil, err
	}
	tree, err := image.Files(files)
	if err != nil {
		return nil, err
	}
	c, _, err := packagemanifest.Convert(ctx, tree)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := catalog.WriteJSON(&text, c); err != nil {
		return nil, fmt.Errorf("write the manifests as a catalog: %w", err)
	}
	return text.Bytes(), nil
}

// digestOf is a digest of keys and values.
func digestOf(contents map[string][]byte) string {
	sum := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(contents)) {
		part := sha256.Sum256(contents[key])
		fmt.Fprintf(sum, "%q %x\n", key, part)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}
