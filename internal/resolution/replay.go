package resolution

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/version"
)

// Replay decides again on what was recorded, for the Subscriptions of a group. catalogs finds the content of a catalog by its name and
// the digest that it had.
func (r NamespaceRecord) Replay(ctx context.Context, catalogs func(name, digest string) (*catalog.Index, error)) (NamespaceResult, error) {
	var in NamespaceRequest
	err := r.complete()
	if err == nil {
		in, err = r.input(catalogs)
	}
	if err != nil {
		return NamespaceResult{}, fmt.Errorf("replay the decision for namespace %s: %w", r.Namespace, err)
	}
	return Namespace(ctx, in)
}

func (r NamespaceRecord) input(catalogs func(name, digest string) (*catalog.Index, error)) (NamespaceRequest, error) {
	in := NamespaceRequest{Namespace: r.Namespace, Together: r.Together, AnyCatalog: r.AnyCatalog}
	if r.Kubernetes != "" {
		v, err := version.Parse(r.Kubernetes)
		if err != nil {
			return in, fmt.Errorf("version of Kubernetes: %w", err)
		}
		in.Kubernetes = v
	}
	for _, c := range r.Catalogs {
		s := Source{Ref: parseRef(c.Name), Priority: c.Priority, Problem: c.Problem}
		if c.Digest != "" {
			x, err := catalogs(c.Name, c.Digest)
			if err != nil {
				return in, fmt.Errorf("catalog %s with digest %s: %w", c.Name, c.Digest, err)
			}
			s.Index = x
		}
		in.Sources = append(in.Sources, s)
	}
	for _, o := range r.Installed {
		operator, err := o.operator(in.Sources)
		if err != nil {
			return in, fmt.Errorf("installed operator %s: %w", o.Name, err)
		}
		in.Operators = append(in.Operators, operator)
	}
	for _, q := range r.Requests {
		in.Subscriptions = append(in.Subscriptions, Subscription{Name: q.Name, Package: q.Package, Channel: q.Channel,
			StartingCSV: q.StartingCSV, Catalog: parseRef(q.Catalog), Installed: q.Installed, VersionRange: q.VersionRange})
	}
	return in, nil
}

func (o RecordedOperator) operator(sources []Source) (Operator, error) {
	out := Operator{Name: o.Name, Package: o.Package, Settled: !o.Unsettled, Failed: o.Failed, Phase: o.Phase, Provides: o.Provides, Requires: o.Requires, Properties: o.Properties}
	var err error
	if out.Version, err = version.Parse(o.Version); err != nil {
		return out, err
	}
	if o.Catalog != "" {
		return out, out.read(o.Catalog, sources)
	}
	for _, p := range o.Packages {
		r, err := version.ParseRange(p.Range)
		if err != nil {
			return out, err
		}
		out.Packages = append(out.Packages, PackageRequirement{Package: p.Package, Range: r})
	}
	return out, nil
}

// read fills in what the bundle of that name in a catalog says.
func (o *Operator) read(name string, sources []Source) error {
	i := slices.IndexFunc(sources, func(s Source) bool { return s.Ref.String() == name && s.Index != nil })
	if i < 0 {
		return fmt.Errorf("catalog %s is not among those recorded with content", name)
	}
	bundle, ok := sources[i].Index.Bundle(o.Package, o.Name)
	if !ok {
		return fmt.Errorf("package %s of catalog %s has no bundle of that name", o.Package, name)
	}
	o.Provides, o.Requires, o.Properties = bundle.Provides, bundle.Requires, bundle.Properties
	for _, p := range bundle.RequiredPackages {
		o.Packages = append(o.Packages, PackageRequirement{Package: p.PackageName, Range: p.Range})
	}
	return nil
}

func parseRef(text string) catalog.Ref {
	namespace, name, found := strings.Cut(text, "/")
	if !found {
		return catalog.Ref{Name: text}
	}
	return catalog.Ref{Namespace: namespace, Name: name}
}
