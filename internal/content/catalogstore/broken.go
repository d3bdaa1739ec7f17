package catalogstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/bundle/packagemanifest"
	"fairlead.dev/fairlead/catalog"
)

// One ClusterServiceVersion that cannot be a bundle is no reason to leave out the others of its package. In the channels it keeps its place, as
// an entry without a bundle: the order of the others depends on it.

// broken are the ClusterServiceVersions of a package that cannot be bundles even alone, with the reason.
func (c *content) broken(ctx context.Context, p listed, names []string) map[string]error {
	broken := map[string]error{}
	for _, name := range names {
		alone := listed{place: p.place, Package: packagemanifest.Package{PackageName: p.PackageName,
			Channels: []packagemanifest.Channel{{Name: "alone", CurrentCSV: name}}}}
		if _, err := c.convertWith(ctx, alone, []string{name}, nil); err != nil {
			broken[name] = err
		}
	}
	return broken
}

// outline is as much of a ClusterServiceVersion as says where in a channel it is.
func (o operator) outline(text []byte) ([]byte, error) {
	var annotated struct {
		Metadata struct{ Annotations map[string]string }
	}
	_ = json.Unmarshal(text, &annotated) // where they are not texts, a range among them is not known
	metadata := map[string]any{"name": o.Metadata.Name}
	if skipRange := annotated.Metadata.Annotations[packagemanifest.SkipRangeAnnotation]; skipRange != "" {
		metadata["annotations"] = map[string]string{packagemanifest.SkipRangeAnnotation: skipRange}
	}
	return json.Marshal(map[string]any{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion", "metadata": metadata,
		"spec": map[string]any{"version": "0.0.0", "replaces": o.Spec.Replaces, "skips": o.Spec.Skips, "install": map[string]string{"strategy": "deployment"}},
	})
}

// Noted reports whether a problem of an index says what the Warnings say.
func Noted(p catalog.Problem) bool {
	return p.Rule == RuleLeftOut || p.Rule == catalog.RuleEntryWithoutBundle && p.Position.File == convertedFile
}

// leaveOutBroken takes the bundles made of outlines out of a converted package, and says so of them and of the channels that have no other.
func (c *content) leaveOutBroken(p listed, converted *catalog.Catalog, broken map[string]error) {
	converted.Bundles = slices.DeleteFunc(converted.Bundles, func(b catalog.Bundle) bool { return broken[b.Name] != nil })
	for _, name := range c.reached(p) {
		if err := broken[name]; err != nil {
			c.leaveOut(c.operators[name].place, fmt.Sprintf("%s of package %s", name, p.PackageName),
				catalog.Object{Schema: catalog.SchemaBundle, Package: p.PackageName, Name: name}, ": "+err.Error(), "")
		}
	}
	for _, channel := range converted.Channels {
		if slices.ContainsFunc(channel.Entries, func(e catalog.Entry) bool { return broken[e.Name] == nil }) {
			continue
		}
		head := channel.Entries[0].Name
		c.leaveOut(p.place, fmt.Sprintf("channel %s of package %s", channel.Name, p.PackageName), channelObject(p.PackageName, channel.Name),
			fmt.Sprintf(", because no ClusterServiceVersion of it can be used; of its head %s: %v", head, broken[head]), "")
	}
}
