package preview

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"
)

// ForExtension is what the bundle of a ClusterExtension is installed for.
const ForExtension = "extension"

// ExtensionResolution is what a ClusterExtension would resolve to, or why to nothing.
type ExtensionResolution struct {
	Extension  string                  `json:"extension"`
	Package    string                  `json:"package"`
	Change     resolution.Change       `json:"change,omitempty"`
	Install    []resolution.Install    `json:"install"`
	Conflict   *resolution.Conflict    `json:"conflict,omitempty"`
	Held       []resolution.Held       `json:"held,omitempty"`
	Deprecated *resolution.Deprecation `json:"deprecation,omitempty"`
	Notes      []string                `json:"notes,omitempty"`
	// Candidates are all versions of the package, the most wanted first.
	Candidates []resolution.Candidate `json:"candidates,omitempty"`

	installed string
	request   resolution.ExtensionRequest
	result    *resolution.ExtensionResult
	bundle    *catalog.BundleInfo // to have in the place of what is installed; nil when there is none
}

func resolveExtension(ctx context.Context, in resolution.ExtensionRequest) (*ExtensionResolution, error) {
	result, err := resolution.Extension(ctx, in)
	out := &ExtensionResolution{Extension: in.Name, Package: in.Package, Install: []resolution.Install{}, request: in, result: result}
	if err != nil && !errors.As(err, &out.Conflict) {
		return nil, fmt.Errorf("resolve ClusterExtension %s: %w", in.Name, err)
	}
	if in.Installed != nil {
		out.installed = in.Installed.Name
	}
	out.Change, out.Deprecated, out.Notes, out.Candidates = result.Change, result.Deprecation, result.Notes, result.Candidates
	if result.Held != nil {
		out.Held = []resolution.Held{*result.Held}
	}
	if len(out.deprecations()) == 0 {
		out.Deprecated = nil
	}
	switch result.Change {
	case resolution.ChangeInstall, resolution.ChangeUpgrade, resolution.ChangeDowngrade:
		b := result.Bundle
		out.bundle = b
		out.Install = append(out.Install, resolution.Install{Name: b.Name, Package: b.Package, Channel: out.channel(result.Catalog, result.Channels), Channels: result.Channels,
			Version: b.VersionText, Catalog: result.Catalog, For: ForExtension, Replaces: out.installed})
	}
	return out, nil
}

// channel is the first of some channels of a catalog, its default channel before others.
func (r *ExtensionResolution) channel(in string, channels []string) string {
	for _, c := range r.request.Catalogs {
		if c.Name != in || c.Index == nil {
			continue
		}
		if p, ok := c.Index.PackageV1(r.Package); ok && slices.Contains(channels, p.DefaultChannel) {
			return p.DefaultChannel
		}
	}
	return strings.Join(channels[:min(len(channels), 1)], "")
}

// Solved tells whether there is an answer.
func (r *ExtensionResolution) Solved() bool { return r.Conflict == nil }

// Write prints the decision for people.
func (r *ExtensionResolution) Write(w io.Writer) error {
	var b page
	switch {
	case r.Conflict != nil:
		b.printf("extension %s: no solution\n%s", r.Extension, indented(r.Conflict.Error()))
	case len(r.Install) == 0:
		b.printf("extension %s: %s stays\n", r.Extension, r.installed)
	default:
		b.printf("extension %s: %s\n\n", r.Extension, r.Change)
		i := r.Install[0]
		b.WriteString(messages.Table([]string{"BUNDLE", "VERSION", "CHANNEL", "CATALOG", "REPLACES"}, []string{i.Name, i.Version, strings.Join(i.Channels, ","), i.Catalog, i.Replaces}))
	}
	for _, h := range r.Held {
		what := fmt.Sprintf("%s cannot be had, but %s", h.Wanted, h.Instead)
		if h.Upgrades > 0 {
			what = fmt.Sprintf("%s is next, and %s comes after it", h.Instead, h.Wanted)
		}
		b.printf("\n%s:\n%s", what, indented(messages.Clean(h.Reason)))
		if h.Advice != "" {
			b.put(indented(messages.Clean(h.Advice)))
		}
	}
	for _, note := range append(r.deprecations(), r.Notes...) {
		b.WriteString("\nnote: " + messages.Clean(note) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// deprecations is what the catalog says of what is followed and had.
func (r *ExtensionResolution) deprecations() []string {
	d := r.Deprecated
	if d == nil {
		return nil
	}
	var all []string
	for what, message := range map[string]string{"package": d.Package, "installed bundle": d.Installed, "chosen bundle": d.Chosen} {
		if message != "" {
			all = append(all, what+" is deprecated: "+message)
		}
	}
	for name, message := range d.Channels {
		all = append(all, "channel "+name+" is deprecated: "+message)
	}
	slices.Sort(all)
	return all
}
