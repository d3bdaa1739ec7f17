package template

import (
	"errors"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/version"
)

// rung is a bundle of an archetype.
type rung struct {
	name    string
	version version.VersionRelease
}

// ladders are the bundles of each archetype by version, and the package that
// all of them belong to.
func (t *semverTemplate) ladders(bundles map[string]Bundle) (ladders [][]rung, pkg string, err error) {
	ladders = make([][]rung, len(archetypes))
	for i, images := range t.images {
		names := map[string]bool{}
		for _, r := range images {
			b, ok := bundles[r.image]
			if !ok {
				return nil, "", t.fail(r.line, "supplied bundle image name %q not found in rendered bundle images", r.image)
			}
			v, err := semverOf(b.Bundle)
			if err != nil {
				return nil, "", t.fail(r.line, "bundle %q from image %s: %w", b.Name, r.image, err)
			}
			if pkg == "" {
				pkg = b.Package
			}
			if b.Package != pkg {
				return nil, "", t.fail(r.line, "bundle %q does not belong to this package: %q; it is of package %q, and a semver template is about one package",
					b.Name, pkg, b.Package)
			}
			if names[b.Name] {
				return nil, "", t.fail(r.line, "duplicate bundle name %q in %s; list each bundle once there", b.Name, archetypes[i])
			}
			names[b.Name] = true
			ladders[i] = append(ladders[i], rung{b.Name, v})
		}
		slices.SortFunc(ladders[i], func(a, b rung) int { return a.version.Compare(b.version) })
		for j := 1; j < len(ladders[i]); j++ { // refuse versions that no order is defined for
			a, b := ladders[i][j-1], ladders[i][j]
			if a.name > b.name {
				a, b = b, a
			}
			if a.version.Compare(b.version) == 0 {
				return nil, "", t.fail(images[0].line, "%s: encountered bundle versions which differ only by build metadata, which cannot be ordered: %s has %s and %s has %s; keep one of them",
					archetypes[i], a.name, a.version, b.name, b.version)
			}
		}
	}
	return ladders, pkg, nil
}

// semverOf is the version of a bundle. Of what else may be wrong with the bundle nothing is said here.
func semverOf(b catalog.Bundle) (version.VersionRelease, error) {
	v, err := b.VersionRelease()
	var invalid *catalog.InvalidError
	if !errors.As(err, &invalid) {
		return v, err
	}
	var reasons []string
	for _, p := range invalid.Problems {
		reasons = append(reasons, p.Message+"; "+p.Fix)
	}
	return v, errors.New(strings.Join(reasons, ", "))
}
