package preview

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/extension"
	"fairlead.dev/fairlead/internal/plan"
)

// Extension is a ClusterExtension as a user says it in short.
type Extension struct {
	Package  string
	Version  string // a range; empty means any
	Channels []string
	Policy   extension.Policy
	// Installed is what it has installed, as NAME, which a catalog has, or NAME@VERSION; empty for nothing.
	Installed string
}

// ForExtension is what the bundle of a ClusterExtension is installed for.
const ForExtension = "extension"

// ExtensionResolution is what a ClusterExtension would resolve to, or why to nothing.
type ExtensionResolution struct {
	Extension  string                 `json:"extension"`
	Package    string                 `json:"package"`
	Change     extension.Change       `json:"change,omitempty"`
	Install    []plan.Install         `json:"install"`
	Conflict   *extension.Conflict    `json:"conflict,omitempty"`
	Held       *extension.Held        `json:"held,omitempty"`
	Deprecated *extension.Deprecation `json:"deprecation,omitempty"`
	Notes      []string               `json:"notes,omitempty"`
	// Candidates are all versions of the package, the most wanted first.
	Candidates []extension.Candidate `json:"candidates,omitempty"`

	installed string
}

// Resolve decides what an extension would resolve to with these catalogs.
func (e Extension) Resolve(ctx context.Context, l *Library, catalogs []Catalog) (*ExtensionResolution, error) {
	in := extension.Request{Name: e.Package, Package: e.Package, Version: e.Version, Channels: e.Channels, Policy: e.Policy}
	for _, c := range catalogs {
		switch known := slices.ContainsFunc(in.Catalogs, func(o extension.Catalog) bool { return o.Name == c.Ref.Name }); {
		case c.Ref.Namespace != "":
			return nil, fmt.Errorf("read catalog %s: a ClusterCatalog has no namespace; write its name alone", c.Ref)
		case known:
			return nil, fmt.Errorf("catalog %s is named more than once: leave one out", c.Ref)
		}
		x, err := l.read(ctx, c.Source)
		if err != nil {
			return nil, fmt.Errorf("read catalog %s from %s: %w", c.Ref, c.Source, err)
		}
		in.Catalogs = append(in.Catalogs, extension.Catalog{Name: c.Ref.Name, Priority: c.Priority, Index: x})
	}
	var err error
	if in.Installed, err = e.installed(in.Catalogs); err != nil {
		return nil, err
	}
	return resolveExtension(ctx, in)
}

func resolveExtension(ctx context.Context, in extension.Request) (*ExtensionResolution, error) {
	result, err := extension.Resolve(ctx, in)
	out := &ExtensionResolution{Extension: in.Name, Package: in.Package, Install: []plan.Install{}}
	if err != nil && !errors.As(err, &out.Conflict) {
		return nil, fmt.Errorf("resolve ClusterExtension %s: %w", in.Name, err)
	}
	if in.Installed != nil {
		out.installed = in.Installed.Name
	}
	out.fill(result)
	return out, nil
}

// installed is the bundle that is said to be installed; its version is said, or that of the bundle in a catalog.
func (e Extension) installed(catalogs []extension.Catalog) (*extension.Installed, error) {
	if e.Installed == "" {
		return nil, nil
	}
	name, version, found := strings.Cut(e.Installed, "@")
	if found {
		i, err := extension.ParseInstalled(name, version, nil)
		if err != nil {
			return nil, fmt.Errorf("read installed bundle %s: %w", e.Installed, err)
		}
		return &i, nil
	}
	for _, c := range catalogs {
		if b, ok := c.Index.Bundle(e.Package, name); ok {
			return &extension.Installed{Name: name, Version: b.Version}, nil
		}
	}
	return nil, fmt.Errorf("find installed bundle %s: package %s of no catalog has it; correct its name, or say its version: %s@VERSION", name, e.Package, name)
}

func (r *ExtensionResolution) fill(result *extension.Result) {
	r.Change, r.Held, r.Deprecated, r.Notes, r.Candidates = result.Change, result.Held, result.Deprecation, result.Notes, result.Candidates
	if len(r.deprecations()) == 0 {
		r.Deprecated = nil
	}
	switch result.Change {
	case extension.Install, extension.Upgrade, extension.Downgrade:
		b := result.Bundle
		r.Install = append(r.Install, plan.Install{Name: b.Name, Package: b.Package, Channel: strings.Join(result.Channels, ","), Version: b.VersionText,
			Catalog: result.Catalog, For: ForExtension, Replaces: r.installed})
	}
}

// Solved tells whether there is an answer.
func (r *ExtensionResolution) Solved() bool { return r.Conflict == nil }

// Write prints the decision for people.
func (r *ExtensionResolution) Write(w io.Writer) error {
	var b strings.Builder
	switch {
	case r.Conflict != nil:
		fmt.Fprintf(&b, "extension %s: no solution\n%s", r.Extension, indented(r.Conflict.Error()))
	case len(r.Install) == 0:
		fmt.Fprintf(&b, "extension %s: %s stays\n", r.Extension, r.installed)
	default:
		fmt.Fprintf(&b, "extension %s: %s\n\n", r.Extension, r.Change)
		i := r.Install[0]
		b.WriteString(table([][]string{{"BUNDLE", "VERSION", "CHANNEL", "CATALOG", "REPLACES"}, {i.Name, i.Version, i.Channel, i.Catalog, i.Replaces}}))
	}
	if h := r.Held; h != nil {
		fmt.Fprintf(&b, "\n%s cannot be had, but %s:\n%s", h.Wanted, h.Instead, indented(tidy(h.Reason)))
		if h.Advice != "" {
			b.WriteString(indented(tidy(h.Advice)))
		}
	}
	for _, note := range append(r.deprecations(), r.Notes...) {
		b.WriteString("\nnote: " + tidy(note) + "\n")
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
