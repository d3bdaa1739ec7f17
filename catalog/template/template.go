package template

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"fairlead.dev/fairlead/catalog"

	"golang.org/x/sync/errgroup"
)

// Type is a kind of template, named as on command lines.
type Type string

// The types of templates.
const (
	Basic       Type = "basic"
	Semver      Type = "semver"
	Substitutes Type = "substitutes"
)

// schemas are those of the types.
var schemas = map[Type]string{
	Basic:       "olm.template.basic",
	Semver:      "olm.semver",
	Substitutes: "olm.template.substitutes",
}

// Types are all types, sorted.
func Types() []Type { return []Type{Basic, Semver, Substitutes} }

// ParseType reads the name of a type.
func ParseType(name string) (Type, error) {
	if t := Type(name); slices.Contains(Types(), t) {
		return t, nil
	}
	var names []string
	for _, t := range Types() {
		names = append(names, string(t))
	}
	return "", fmt.Errorf("invalid template type %q, must be one of: %s%s", name, strings.Join(names, ", "), replacement(name))
}

// Arguments reads the arguments [TYPE] [FILE] of a command line: a single one is a type if there is one of that name. The file is "-",
// standard input, when none is named, and the type empty, so that the schema decides.
func Arguments(args []string) (t Type, file string, err error) {
	switch len(args) {
	case 0:
		return "", "-", nil
	case 1:
		if t, err := ParseType(args[0]); err == nil {
			return t, "-", nil
		}
		return "", args[0], nil
	}
	t, err = ParseType(args[0])
	return t, args[1], err
}

// replacement says what to use in place of template types that there are no more.
func replacement(name string) string {
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "composite":
		return "; instead of a composite template, render the template of each contribution and merge the catalogs"
	case "raw", "veneer":
		return "; what was a raw template is a basic one now, with schema: " + schemas[Basic]
	}
	return ""
}

// Bundle is what the image of a bundle holds.
type Bundle struct {
	catalog.Bundle
	// Description and Icon are what a package takes from its newest bundle.
	Description string
	Icon        *catalog.Icon
}

// Source gives the bundle of a bundle image. It is called for several images at once.
type Source func(ctx context.Context, image string) (Bundle, error)

// Options say how a template is rendered.
type Options struct {
	// Type is the type of the template; empty means that its schema decides.
	Type Type
	// File is what errors and problems call the template.
	File string
	// Bundles gives the bundles that the template names.
	Bundles Source
	// Workers is how many bundles are asked for at once; 0 means 8.
	Workers int
}

// maxBytes bounds a template.
const maxBytes = 256 << 20

// Render makes the catalog that a template describes. Positions in it are
// those in the template, and its LoadProblems are warnings about the template.
func Render(ctx context.Context, content io.Reader, o Options) (*catalog.Catalog, error) {
	d, err := read(o.File, content, maxBytes)
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	t, err := d.detect(o.Type)
	if err != nil {
		return nil, err
	}
	var c *catalog.Catalog
	switch t {
	case Basic:
		c, err = d.basic(ctx, o)
	case Semver:
		c, err = d.semver(ctx, o)
	default:
		c, err = d.substitutes(ctx, o)
	}
	if err != nil {
		return nil, fmt.Errorf("render %s template: %w", t, err)
	}
	c.LoadProblems = append(c.LoadProblems, d.warnings...)
	return c, nil
}

// detect finds the type of the template by its schema, which must be that of
// the wanted type if there is one.
func (d *document) detect(wanted Type) (Type, error) {
	schema, line, err := d.schema()
	if err != nil {
		return "", err
	}
	if wanted != "" {
		if schema != schemas[wanted] {
			return "", d.fail(line, "template has unknown schema (%q), should be %q", schema, schemas[wanted])
		}
		return wanted, nil
	}
	for t, known := range schemas {
		if schema == known {
			return t, nil
		}
	}
	return "", d.fail(line, "unknown template schema: %s%s; known are %s, %s and %s",
		schema, replacement(schema), schemas[Basic], schemas[Semver], schemas[Substitutes])
}

var errNoSchema = errors.New("template input missing required 'schema' field; begin it with one, such as \"schema: olm.template.basic\"")

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
	errs := make([]error, len(unique)) // the first in order is returned, whichever failed first
	var failed atomic.Bool
	var group errgroup.Group
	group.SetLimit(cmp.Or(o.Workers, 8))
	for i, r := range unique {
		if errs[i] = context.Cause(ctx); failed.Load() || errs[i] != nil {
			break
		}
		group.Go(func() error {
			b, err := o.Bundles(ctx, r.image)
			if err != nil {
				errs[i] = d.fail(r.line, "%w", err)
				failed.Store(true)
			}
			b.Position = d.at(r.line)
			found[i] = b
			return nil
		})
	}
	_ = group.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	bundles := make(map[string]Bundle, len(unique))
	for i, r := range unique {
		bundles[r.image] = found[i]
	}
	return bundles, nil
}
