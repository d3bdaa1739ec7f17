package cli

import (
	"context"
	"errors"
	"fmt"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
)

// pullBundle reads the bundle of an image, as the user of the command can reach it: a tag is resolved to its digest once, now.
func pullBundle(ctx context.Context, s command.Streams, ref string) (pinned string, b *bundle.Bundle, err error) {
	r := &bundleio.Renderer{}
	done := command.Attach(r, s)
	defer func() { err = errors.Join(err, done()) }()
	store, err := r.OpenStore(ctx)
	if err != nil {
		return "", nil, err
	}
	img, err := store.Pull(ctx, ref, image.PullOptions{Select: image.SelectBundle})
	if err != nil {
		return "", nil, err
	}
	defer img.Close()
	if b, err = bundle.Load(img.FS()); err != nil {
		return "", nil, fmt.Errorf("read the bundle in image %s: %w", ref, err)
	}
	if _, err := snapshot.ReadBundleImage(b, img.Pinned); err != nil {
		return "", nil, fmt.Errorf("the bundle in image %s cannot be installed: %w", ref, err)
	}
	return img.Pinned, b, nil
}

// chosenImage is the image that a command is to have installed, by digest, and the package of its bundle. One that cannot be read from here may be
// read by the manager, when its digest and its package are known; then there is no bundle.
func chosenImage(ctx context.Context, s command.Streams, ref, pkg string) (pinned, of string, b *bundle.Bundle, err error) {
	pinned, b, err = pullBundle(ctx, s, ref)
	switch {
	case err == nil && pkg != "" && b.Package != pkg:
		return "", "", nil, fmt.Errorf("image %s has bundle %s of package %s, not one of %s", ref, b.Name, b.Package, pkg)
	case err == nil:
		fmt.Fprintf(s.Err, "image %s has bundle %s of package %s\n", pinned, b.Name, b.Package)
		return pinned, b.Package, b, nil
	case pkg == "" || image.CheckPinned(ref) != nil:
		return "", "", nil, fmt.Errorf("%w\nIf only the cluster can reach the registry, name the package, and the image by its digest", err)
	}
	fmt.Fprintf(s.Err, "note: the image cannot be read by this command, and is left to the manager: %v\n", err)
	return ref, pkg, nil, nil
}
