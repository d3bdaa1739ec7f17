package scaffold

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/bundle/packagemanifest"
	"fairlead.dev/fairlead/catalog"
)

var errByHand = errors.New("please manually input channels and packageName, with --package and --channels")

// infer finds out what package and channels the manifests belong to, from the package-manifest directory above them.
func (r *Request) infer(ctx context.Context, files []bundle.File) error {
	if r.Package != "" && len(r.Channels) > 0 {
		return nil
	}
	parent := filepath.Dir(r.Manifests)
	if !packagemanifest.Is(os.DirFS(parent)) {
		return fmt.Errorf("package and channels are not given, and %s is no package-manifest directory to infer them from: %w", parent, errByHand)
	}
	c, _, err := packagemanifest.Convert(ctx, os.DirFS(parent))
	if err != nil {
		return fmt.Errorf("package and channels are not given, and cannot be inferred: %w: %w", err, errByHand)
	}
	name, ok := csvName(files)
	if !ok {
		return fmt.Errorf("package and channels are not given, and the manifests have no ClusterServiceVersion to infer them by: %w", errByHand)
	}
	// Take what is missing from the channels that have the bundle.
	var channels []string
	for _, channel := range c.Channels {
		has := slices.ContainsFunc(channel.Entries, func(e catalog.Entry) bool { return e.Name == name })
		if !has || r.Package != "" && channel.Package != r.Package {
			continue
		}
		r.Package = channel.Package
		channels = append(channels, channel.Name)
	}
	slices.Sort(channels)
	if len(r.Channels) == 0 {
		r.Channels = channels
	}
	for _, p := range c.Packages {
		if p.Name == r.Package && r.DefaultChannel == "" {
			r.DefaultChannel = p.DefaultChannel
		}
	}
	if r.Package == "" || len(r.Channels) == 0 {
		return fmt.Errorf("package and channels are not given, and no channel below %s has %s: %w", parent, name, errByHand)
	}
	return nil
}

// csvName is the name of the ClusterServiceVersion among the manifests.
func csvName(files []bundle.File) (string, bool) {
	for _, f := range files {
		if object, err := bundle.Decode(f); err == nil && object.GetKind() == "ClusterServiceVersion" {
			return object.GetName(), true
		}
	}
	return "", false
}
