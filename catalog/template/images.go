package template

import (
	"cmp"
	"context"
	"errors"

	"fairlead.dev/fairlead/internal/inorder"
)

// reference is an image that a template names, and where.
type reference struct {
	image string
	line  int
}

// fetch gets the bundles of images, each image once, several at a time.
func (d *document) fetch(ctx context.Context, references []reference, o Options) (map[string]Bundle, error) {
	if o.Bundles == nil {
		return nil, errors.New("no source of bundles was given")
	}
	var unique []reference
	seen := map[string]bool{}
	for _, r := range references {
		if !seen[r.image] {
			seen[r.image] = true
			unique = append(unique, r)
		}
	}
	found := make([]Bundle, len(unique))
	err := inorder.Each(ctx, len(unique), cmp.Or(o.Workers, 8), func(ctx context.Context, i int) error {
		b, err := o.Bundles(ctx, unique[i].image)
		if err != nil {
			return d.fail(unique[i].line, "%w", err)
		}
		b.Position = d.at(unique[i].line)
		found[i] = b
		return nil
	})
	if err != nil {
		return nil, err
	}
	bundles := make(map[string]Bundle, len(unique))
	for i, r := range unique {
		bundles[r.image] = found[i]
	}
	return bundles, nil
}
