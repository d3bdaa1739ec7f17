package grpccatalog

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"fairlead.dev/fairlead/catalog"
)

// objects writes the objects of a catalog one after the other, and remembers a digest of each.
type objects struct {
	w    io.Writer
	sums [][sha256.Size]byte
	text bytes.Buffer
}

func (o *objects) write(c *catalog.Catalog) error {
	o.text.Reset()
	if err := catalog.WriteJSON(&o.text, c); err != nil {
		return err
	}
	o.sums = append(o.sums, sha256.Sum256(o.text.Bytes()))
	if _, err := o.w.Write(o.text.Bytes()); err != nil {
		return fmt.Errorf("write down what it says: %w", err)
	}
	return nil
}

// finish writes what is only complete in the end. The order in which a server lists entries means nothing.
func (g *gatherer) finish() (string, error) {
	if g.err != nil {
		return "", g.err
	}
	for i := range g.catalog.Channels {
		slices.SortStableFunc(g.catalog.Channels[i].Entries, func(a, b catalog.Entry) int {
			return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Replaces, b.Replaces), cmp.Compare(a.SkipRange, b.SkipRange))
		})
	}
	for i := range g.catalog.Deprecations {
		slices.SortStableFunc(g.catalog.Deprecations[i].Entries, func(a, b catalog.Deprecation) int {
			return cmp.Or(cmp.Compare(a.Reference.Schema, b.Reference.Schema), cmp.Compare(a.Reference.Name, b.Reference.Name))
		})
	}
	for _, p := range g.catalog.Packages {
		p.Icon = g.icons[p.Name]
		if err := g.out.write(&catalog.Catalog{Packages: []catalog.Package{p}}); err != nil {
			return "", err
		}
	}
	for _, channel := range g.catalog.Channels {
		if err := g.out.write(&catalog.Catalog{Channels: []catalog.Channel{channel}}); err != nil {
			return "", err
		}
	}
	for _, d := range g.catalog.Deprecations {
		if err := g.out.write(&catalog.Catalog{Deprecations: []catalog.Deprecations{d}}); err != nil {
			return "", err
		}
	}
	slices.SortFunc(g.out.sums, func(a, b [sha256.Size]byte) int { return bytes.Compare(a[:], b[:]) })
	all := sha256.New() // does not depend on the order of the objects
	for _, sum := range g.out.sums {
		all.Write(sum[:])
	}
	return "sha256:" + hex.EncodeToString(all.Sum(nil)), nil
}
