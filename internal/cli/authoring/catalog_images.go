package authoring

import (
	"context"
	"errors"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

// missingImages are the images that a catalog, or one package of it, names and that cannot be had.
func missingImages(ctx context.Context, s command.Streams, c *catalog.Catalog, pkg string) (missing []bundleio.Verdict, err error) {
	r := &bundleio.Renderer{}
	done := command.Attach(r, s)
	defer func() { err = errors.Join(err, done()) }()
	printer := command.Progress(s.Err)
	defer printer.Clear()
	verdicts, err := r.CheckImages(ctx, onlyPackage(c, pkg), func(done, all int) { printer.Doing("%d of %d images checked", done, all) })
	return failedVerdicts(verdicts), err
}

// onlyPackage has the bundles of a catalog, or of one package of it.
func onlyPackage(c *catalog.Catalog, pkg string) *catalog.Catalog {
	out := &catalog.Catalog{}
	for _, b := range c.Bundles {
		if pkg == "" || b.Package == pkg {
			out.Bundles = append(out.Bundles, b)
		}
	}
	return out
}

// failedVerdicts are the verdicts on what cannot be had.
func failedVerdicts(verdicts []bundleio.Verdict) []bundleio.Verdict {
	return slices.DeleteFunc(verdicts, func(v bundleio.Verdict) bool { return v.Exists })
}
