package catalogcmd

import (
	"context"
	"errors"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/render"
)

// missingImages are the images that a catalog, or one package of it, names and that cannot be had.
func missingImages(ctx context.Context, s command.Streams, c *catalog.Catalog, pkg string) (missing []render.Verdict, err error) {
	r := &render.Renderer{}
	done := command.Attach(r, s)
	defer func() { err = errors.Join(err, done()) }()
	part := &catalog.Catalog{}
	for _, b := range c.Bundles {
		if pkg == "" || b.Package == pkg {
			part.Bundles = append(part.Bundles, b)
		}
	}
	printer := command.Progress(s.Err)
	defer printer.Clear()
	verdicts, err := r.CheckImages(ctx, part, func(done, all int) { printer.Doing("%d of %d images checked", done, all) })
	if err != nil {
		return nil, err
	}
	for _, v := range verdicts {
		if !v.Exists {
			missing = append(missing, v)
		}
	}
	return missing, nil
}
