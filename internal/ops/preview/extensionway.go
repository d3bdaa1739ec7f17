package preview

import (
	"context"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/internal/resolution"
)

// wayTo says what to change of a ClusterExtension to have a version; empty when its range and its channels are not what is in the way. What
// is said was tried.
func (r *ExtensionResolution) wayTo(ctx context.Context, v *Verdict) string {
	const (
		version  = "spec.source.catalog.version"
		channels = "spec.source.catalog.channels"
	)
	of := " of ClusterExtension " + r.Extension
	follow := append([]string{v.Channel}, slices.DeleteFunc(slices.Clone(v.Channels), func(c string) bool { return c == v.Channel })...)
	toVersion := fmt.Sprintf("set %s%s to %q, or to another range that has it as its newest", version, of, v.Version)
	if r.gets(ctx, v, func(in *resolution.ExtensionRequest) { in.Version = v.Version }) {
		return "to have it, " + toVersion
	}
	for _, channel := range follow {
		if r.gets(ctx, v, func(in *resolution.ExtensionRequest) { in.Channels = []string{channel} }) {
			return fmt.Sprintf("to have it, set %s%s to %s", channels, of, channel)
		}
		if r.gets(ctx, v, func(in *resolution.ExtensionRequest) { in.Channels, in.Version = []string{channel}, v.Version }) {
			return fmt.Sprintf("to have it, set %s%s to %s, and %s to %q", channels, of, channel, version, v.Version)
		}
	}
	return ""
}

// gets tells whether a changed request has an entry as its answer.
func (r *ExtensionResolution) gets(ctx context.Context, v *Verdict, change func(*resolution.ExtensionRequest)) bool {
	in := r.request
	change(&in)
	result, err := resolution.Extension(ctx, in)
	return err == nil && result.Bundle != nil && result.Bundle.Name == v.Name && result.Catalog == v.Catalog
}
