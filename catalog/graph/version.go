package graph

import (
	"encoding/json"
	"fmt"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/version"
)

// versionOf reads the version of a bundle from its olm.package property. Build
// metadata counts as a release, as under v1; no range looks at either.
func versionOf(b *catalog.Bundle) (version.VersionRelease, error) {
	var found []json.RawMessage
	for _, p := range b.Properties {
		if p.Type == catalog.PropertyPackage {
			found = append(found, p.Value)
		}
	}
	if len(found) != 1 {
		return version.VersionRelease{}, fmt.Errorf("it has %d properties of type %q; it must have exactly one", len(found), catalog.PropertyPackage)
	}
	var value struct{ Version, Release string }
	if err := json.Unmarshal(found[0], &value); err != nil {
		return version.VersionRelease{}, fmt.Errorf("its property %q cannot be read: %w", catalog.PropertyPackage, err)
	}
	v, err := version.Parse(value.Version)
	if err != nil {
		return version.VersionRelease{}, err
	}
	release, err := version.ParseRelease(value.Release)
	if err != nil {
		return version.VersionRelease{}, err
	}
	if len(release) > 0 {
		return version.VersionRelease{Version: v, Release: release}, nil
	}
	return version.FromBuild(v), nil
}
