package clusterextension

import (
	"errors"
	"fmt"
	"hash/fnv"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog"
)

// decision is what has to be known of the last pass of an extension to tell which news concern it.
type decision struct {
	pkg, namespace string
	// fingerprints are those of the package in each catalog.
	fingerprints map[string]uint64
	// open is true when something may be had that is not: what other extensions install, or a catalog that offers what is needed, may matter.
	open bool
	// needs is true when what is installed or rolls out needs something of others, which may go away.
	needs bool
	// forbidden is true when other roles or bindings may matter.
	forbidden bool
}

// look notes that a pass is under way: until it is known what it rests on, all news concern it.
func (c *Controller) look(ext *olmv1.ClusterExtension) {
	c.decided.Store(ext.Name, &decision{namespace: ext.Spec.Namespace, open: true, forbidden: true})
}

// remember notes what the pass rested on.
func (c *Controller) remember(s *state, o *outcome) {
	d := &decision{pkg: packageOf(s.ext), namespace: s.ext.Spec.Namespace, fingerprints: map[string]uint64{},
		open: o.conflict != nil || o.lost != nil || o.resolved == nil || o.resolved.Held != nil || len(o.resolved.LeftOut) > 0 || s.loaded > 0}
	d.needs = c.hasNeeds(s)
	d.forbidden = errors.As(o.problem, &permissionProblem{})
	for i := range s.catalogs {
		d.fingerprints[s.catalogs[i].Name] = fingerprint(s.catalogs[i].Index, d.pkg)
	}
	c.decided.Store(s.ext.Name, d)
}

// concerns tells whether new content of a catalog may change the decision.
func (d *decision) concerns(name string, x *catalog.Index) bool {
	before, known := d.fingerprints[name]
	return d.open || !known || before != fingerprint(x, d.pkg)
}

// fingerprint identifies what a catalog has of a package; zero when that is nothing.
func fingerprint(x *catalog.Index, pkg string) uint64 {
	if x == nil {
		return 0
	}
	p, ok := x.PackageV1(pkg)
	problems := x.Problems().About(pkg)
	if !ok && len(problems) == 0 {
		return 0
	}
	sum := fnv.New64a()
	for _, problem := range problems { // they may be reported
		fmt.Fprintf(sum, "%s\n", problem)
	}
	if !ok {
		return sum.Sum64()
	}
	fmt.Fprintf(sum, "%q %q\n", p.Name, p.Deprecation)
	seen := map[string]bool{}
	for _, channel := range p.Channels {
		fmt.Fprintf(sum, "%q %q\n", channel.Name, channel.Deprecation)
		for _, e := range channel.Entries {
			fmt.Fprintf(sum, "%q %q %q %v\n", e.Name, e.Replaces, e.Skips, e.SkipRange)
			if b := e.Bundle; b != nil && !seen[b.Name] {
				seen[b.Name] = true
				fmt.Fprintf(sum, "%q %q %q %t %q\n", b.VersionText, b.Image, b.Deprecation, b.Deprecated, b.Properties)
				if b.Image == "" {
					fmt.Fprintf(sum, "%q\n", x.Digest()) // its manifests are in the catalog, and may differ
				}
			}
		}
	}
	return sum.Sum64()
}
