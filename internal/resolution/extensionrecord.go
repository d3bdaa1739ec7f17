package resolution

import (
	"context"
	"errors"
	"fmt"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/version"

	"github.com/blang/semver/v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ExtensionRecord is what a decision was made on, and the outcome: enough to decide again, elsewhere and later, given the same catalogs.
type ExtensionRecord struct {
	Name     string                `json:"name"`
	Package  string                `json:"package"`
	Version  string                `json:"version,omitempty"`
	Channels []string              `json:"channels,omitempty"`
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	Policy   UpgradePolicy         `json:"upgradeConstraintPolicy"`
	// RequireAll demands that all selected catalogs that matter can be read.
	RequireAll bool              `json:"requireAllCatalogs,omitempty"`
	Installed  *RecordedBundle   `json:"installed,omitempty"`
	Catalogs   []RecordedCatalog `json:"catalogs,omitempty"`
	// Kubernetes is the version of the cluster; empty when it is not known.
	Kubernetes string `json:"kubernetes,omitempty"`
	// Others are the other extensions that the decision depends on.
	Others  []RecordedBundle `json:"others,omitempty"`
	Outcome ExtensionOutcome `json:"outcome"`
}

// RecordedBundle is what an extension has installed. Catalog names a catalog whose bundle of that name has the same properties; without
// it they are recorded here.
type RecordedBundle struct {
	Extension  string             `json:"extension,omitempty"`
	Package    string             `json:"package,omitempty"`
	Name       string             `json:"name"`
	Version    string             `json:"version"`
	Release    string             `json:"release,omitempty"`
	Catalog    string             `json:"catalog,omitempty"`
	Properties []catalog.Property `json:"properties,omitempty"`
}

// RecordedCatalog is a catalog. Without digest it had no content, and Problem says why; without that it was still being loaded.
type RecordedCatalog struct {
	Name     string            `json:"name"`
	Labels   map[string]string `json:"labels,omitempty"`
	Priority int               `json:"priority,omitempty"`
	Disabled bool              `json:"disabled,omitempty"`
	Digest   string            `json:"digest,omitempty"`
	Problem  string            `json:"problem,omitempty"`
}

// ExtensionOutcome is what was decided.
type ExtensionOutcome struct {
	Change  Change `json:"change,omitempty"`
	Bundle  string `json:"bundle,omitempty"`
	Catalog string `json:"catalog,omitempty"`
	Held    string `json:"held,omitempty"`
	// Conflict is why there is no answer.
	Conflict string `json:"conflict,omitempty"`
}

func (b *extensionFront) record(r *ExtensionResult, err error) ExtensionRecord {
	out := ExtensionRecord{Name: b.in.Name, Package: b.in.Package, Version: b.in.Version, Channels: b.in.Channels, Selector: b.in.Selector, Policy: b.in.Policy, RequireAll: b.in.RequireAll,
		Outcome: ExtensionOutcome{Change: r.Change, Catalog: r.Catalog}}
	for _, c := range b.in.Catalogs {
		recorded := RecordedCatalog{Name: c.Name, Priority: c.Priority, Disabled: c.Disabled, Digest: c.digest()}
		if b.in.Selector != nil {
			recorded.Labels = c.Labels
		}
		if c.Index == nil {
			recorded.Problem = c.Problem
		}
		out.Catalogs = append(out.Catalogs, recorded)
	}
	if b.in.Installed != nil {
		installed := b.recordBundle("", b.in.Package, *b.in.Installed)
		out.Installed = &installed
	}
	if !b.in.Kubernetes.Equals(semver.Version{}) {
		out.Kubernetes = b.in.Kubernetes.String()
	}
	// Mark what has a say in whether the needs of those that have a say are met, and so on.
	done := map[*fact]bool{}
	for again := true; again; {
		again = false
		for _, f := range b.world.facts {
			if !f.used || done[f] {
				continue
			}
			done[f], again = true, true
			for _, n := range b.world.needsOf(f) {
				if n.err == nil {
					b.world.use(n.what)
				}
			}
		}
	}
	for i, f := range b.world.facts {
		if f.used {
			out.Others = append(out.Others, b.recordBundle(f.extension, f.pkg, b.in.Others[i].Installed))
		}
	}
	if r.Bundle != nil {
		out.Outcome.Bundle = r.Bundle.Name
	}
	if r.Held != nil {
		out.Outcome.Held = r.Held.Wanted
	}
	var conflict *Conflict
	switch {
	case errors.As(err, &conflict):
		out.Outcome.Conflict = conflict.Summary
	case err != nil:
		out.Outcome.Conflict = err.Error()
	}
	return out
}

func (b *selection) recordBundle(extension, pkg string, i Installed) RecordedBundle {
	out := RecordedBundle{Extension: extension, Package: pkg, Name: i.Name, Version: i.Version.Version.String(), Release: i.Version.Release.String()}
	for _, c := range b.in.Catalogs {
		if c.Index == nil {
			continue
		}
		if bundle, ok := c.Index.BundleV1(pkg, i.Name); ok && sameProperties(bundle.Properties, i.Properties) {
			out.Catalog = c.Name
			return out
		}
	}
	out.Properties = i.Properties
	return out
}

// Replay decides again on what was recorded. catalogs finds the content of a catalog by its name and the digest that it had.
func (r ExtensionRecord) Replay(ctx context.Context, catalogs func(name, digest string) (*catalog.Index, error)) (*ExtensionResult, error) {
	in := ExtensionRequest{Name: r.Name, Package: r.Package, Version: r.Version, Channels: r.Channels, Selector: r.Selector, Policy: r.Policy, RequireAll: r.RequireAll}
	if r.Kubernetes != "" {
		var err error
		if in.Kubernetes, err = version.Parse(r.Kubernetes); err != nil {
			return nil, fmt.Errorf("replay the decision for ClusterExtension %s: version of Kubernetes: %w", r.Name, err)
		}
	}
	indexes := map[string]*catalog.Index{}
	for _, c := range r.Catalogs {
		replayed := Catalog{Name: c.Name, Labels: c.Labels, Priority: c.Priority, Disabled: c.Disabled, Problem: c.Problem}
		if c.Digest != "" {
			var err error
			if replayed.Index, err = catalogs(c.Name, c.Digest); err != nil {
				return nil, fmt.Errorf("replay the decision for ClusterExtension %s: catalog %s with digest %s: %w", r.Name, c.Name, c.Digest, err)
			}
			indexes[c.Name] = replayed.Index
		}
		in.Catalogs = append(in.Catalogs, replayed)
	}
	if r.Installed != nil {
		installed, err := r.Installed.replay(r.Name, indexes)
		if err != nil {
			return nil, err
		}
		in.Installed = &installed
	}
	for _, o := range r.Others {
		installed, err := o.replay(r.Name, indexes)
		if err != nil {
			return nil, err
		}
		in.Others = append(in.Others, InstalledExtension{Name: o.Extension, Package: o.Package, Installed: installed})
	}
	return Extension(ctx, in)
}

func (r RecordedBundle) replay(name string, indexes map[string]*catalog.Index) (Installed, error) {
	wrap := func(err error) error {
		return fmt.Errorf("replay the decision for ClusterExtension %s: installed bundle %s: %w", name, r.Name, err)
	}
	v, err := version.Parse(r.Version)
	if err != nil {
		return Installed{}, wrap(err)
	}
	release, err := version.ParseRelease(r.Release)
	if err != nil {
		return Installed{}, wrap(err)
	}
	out := Installed{Name: r.Name, Version: version.VersionRelease{Version: v, Release: release}, Properties: r.Properties}
	if x := indexes[r.Catalog]; x != nil {
		bundle, ok := x.BundleV1(r.Package, r.Name)
		if !ok {
			return Installed{}, wrap(fmt.Errorf("catalog %s does not have it", r.Catalog))
		}
		out.Properties = bundle.Properties
	}
	return out, nil
}
