package catalog

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// MigrationLevel names how far a catalog is brought up to date. A level
// includes those before it.
type MigrationLevel string

const (
	// MigrateNone changes nothing.
	MigrateNone MigrationLevel = "none"
	// MigrateCSVMetadata puts an olm.csv.metadata in the place of the
	// olm.bundle.object properties of each bundle that has an image and a CSV,
	// and does not have the metadata yet. What installs a bundle is then read
	// from its image only, and the catalog becomes many times smaller.
	MigrateCSVMetadata MigrationLevel = "bundle-object-to-csv-metadata"
	// MigrateAll is whatever the last level is.
	MigrateAll MigrationLevel = "all"
)

// MigrationLevels are those that Migrate knows, the last one being the highest.
func MigrationLevels() []MigrationLevel {
	return []MigrationLevel{MigrateNone, MigrateCSVMetadata, MigrateAll}
}

// Migrate returns the catalog brought up to a level; c is left as it is.
func Migrate(c *Catalog, level MigrationLevel) (*Catalog, error) {
	if !slices.Contains(MigrationLevels(), level) {
		var names []string
		for _, level := range MigrationLevels() {
			names = append(names, string(level))
		}
		return nil, fmt.Errorf("migrate catalog: unknown migration level %q; choose one of %s", string(level), strings.Join(names, ", "))
	}
	if level == MigrateNone {
		return c, nil
	}
	migrated := *c
	migrated.Bundles = slices.Clone(c.Bundles)
	failures := make([]error, len(c.Bundles))
	var workers sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				failures[i] = migrateCSV(&migrated.Bundles[i])
			}
		})
	}
	for i := range c.Bundles {
		next <- i
	}
	close(next)
	workers.Wait()
	for i, err := range failures {
		if err != nil {
			b := c.Bundles[i]
			o := Object{Schema: SchemaBundle, Package: b.Package, Name: b.Name}
			return nil, fmt.Errorf("migrate %s%s to level %s: %w", o, at(b.Position), level, err)
		}
	}
	return &migrated, nil
}

// migrateCSV gives a bundle the metadata of its CSV instead of manifests, if it
// can do without them.
func migrateCSV(b *Bundle) error {
	if b.Image == "" || b.has(PropertyCSVMetadata) || !b.has(PropertyBundleObject) {
		return nil
	}
	all, err := b.AllProperties()
	if err != nil {
		return err
	}
	var metadata *Property
	kept := make([]Property, 0, len(all))
	for i, p := range all {
		if p.Type != PropertyBundleObject {
			kept = append(kept, p)
			continue
		}
		if metadata != nil {
			continue // only the first CSV counts
		}
		if metadata, err = csvMetadata(p.Value); err != nil {
			return fmt.Errorf("property[%d] of type %q: %w", i, p.Type, err)
		}
	}
	if metadata == nil {
		return nil
	}
	b.setProperties(append(kept, *metadata))
	return nil
}

func (b *Bundle) has(propertyType string) bool {
	return slices.ContainsFunc(b.Properties, func(p Property) bool { return p.Type == propertyType }) ||
		slices.ContainsFunc(b.Payloads, func(p Payload) bool { return p.Type == propertyType })
}

// setProperties replaces all properties, and packs those that are payloads.
func (b *Bundle) setProperties(all []Property) {
	b.Properties, b.Payloads = nil, nil
	for i, p := range all {
		if isPayload(p.Type) {
			b.Payloads = append(b.Payloads, NewPayload(i, p))
		} else {
			b.Properties = append(b.Properties, p)
		}
	}
}
