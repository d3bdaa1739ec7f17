package authoring

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
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

// ruleUnpinned is broken by images that are named by a tag: a signature on the catalog covers what the catalog names by digest alone.
const ruleUnpinned catalog.Rule = "image-without-digest"

// maxUnpinned bounds what a finding lists.
const maxUnpinned = 3

// unpinned reports, for each package, the images of bundles and related images that are not named by a digest.
func unpinned(c *catalog.Catalog, pkg string) []graph.Finding {
	type named struct {
		first  *catalog.Bundle
		images []string
	}
	packages, order := map[string]*named{}, []string{}
	for i := range c.Bundles {
		b := &c.Bundles[i]
		if pkg != "" && b.Package != pkg {
			continue
		}
		// The images that a bundle of a catalog names.
		var images []string
		if b.Image != "" {
			images = append(images, b.Image)
		}
		for _, related := range b.RelatedImages {
			if related.Image != "" {
				images = append(images, related.Image)
			}
		}
		for _, ref := range images {
			if image.CheckPinned(ref) == nil {
				continue
			}
			p := packages[b.Package]
			if p == nil {
				p = &named{first: b}
				packages[b.Package], order = p, append(order, b.Package)
			}
			if !slices.Contains(p.images, ref) {
				p.images = append(p.images, ref)
			}
		}
	}
	findings := make([]graph.Finding, 0, len(order))
	for _, name := range order {
		p := packages[name]
		findings = append(findings, graph.Finding{Semantics: []graph.Semantics{graph.V0, graph.V1}, Problem: catalog.Problem{
			Severity: catalog.Warning, Rule: ruleUnpinned, Position: p.first.Position,
			Object:  catalog.Object{Schema: catalog.SchemaPackage, Name: name},
			Message: fmt.Sprintf("%s of its bundles have no digest, so that a signature on the catalog does not cover them: %s", safetext.Count(len(p.images), "image"), safetext.List(p.images, maxUnpinned, ", ")),
			Fix:     "name each as REPOSITORY@DIGEST",
		}})
	}
	return findings
}
