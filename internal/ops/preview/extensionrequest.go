package preview

import (
	"context"
	"fmt"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/resolution"
)

// Extension is a ClusterExtension as a user says it in short. Where the objects of a Question have one for the package, that is meant,
// and what is not said here is as it says.
type Extension struct {
	Package  string
	Version  string // a range; empty means what the object says, or any
	Channels []string
	Policy   resolution.UpgradePolicy
	// Installed is what it has installed, as NAME, which a catalog has, or NAME@VERSION; empty for what the object says, or nothing.
	Installed string
}

// Extend decides what an extension would resolve to beside the ClusterExtensions of the question, and with its catalogs.
func (q *Question) Extend(ctx context.Context, l *Library, e Extension) (*ExtensionResolution, error) {
	for i, c := range q.Catalogs {
		switch known := slices.ContainsFunc(q.Catalogs[:i], func(o Catalog) bool { return o.Ref == c.Ref }); {
		case c.Ref.Namespace != "":
			return nil, fmt.Errorf("read catalog %s: a ClusterCatalog has no namespace; write its name alone", c.Ref)
		case known:
			return nil, fmt.Errorf("catalog %s is named more than once: leave one out", c.Ref)
		}
	}
	requests, err := q.requests(ctx, l)
	if err != nil {
		return nil, err
	}
	// The request of the ClusterExtension that asks for the package, or a new one.
	var found []string
	mine := resolution.ExtensionRequest{Name: e.Package, Package: e.Package}
	for i := 2; slices.ContainsFunc(requests.all, func(r resolution.ExtensionRequest) bool { return r.Name == mine.Name }); i++ {
		mine.Name = fmt.Sprintf("%s-%d", e.Package, i)
	}
	for _, r := range requests.all {
		if r.Package == e.Package {
			mine, found = r, append(found, r.Name)
		}
	}
	if len(found) > 1 {
		return nil, fmt.Errorf("tell which %s for package %s is meant: %s ask for it; leave out --extension to see all of them",
			olmv1.ClusterExtensionKind, e.Package, strings.Join(found, " and "))
	}
	mine.Catalogs, mine.Kubernetes = requests.catalogs, q.Kubernetes
	if err := e.change(&mine); err != nil {
		return nil, err
	}
	return resolveExtension(ctx, beside(mine, requests.all))
}

// change puts what is said in the place of what the request has.
func (e Extension) change(in *resolution.ExtensionRequest) error {
	if e.Version != "" {
		in.Version = e.Version
	}
	if len(e.Channels) > 0 {
		in.Channels = e.Channels
	}
	if e.Policy != "" {
		in.Policy = e.Policy
	}
	if e.Installed == "" {
		return nil
	}
	name, version, found := strings.Cut(e.Installed, "@")
	if found {
		i, err := resolution.ParseInstalled(name, version, nil)
		if err != nil {
			return fmt.Errorf("read installed bundle %s: %w", e.Installed, err)
		}
		in.Installed = &i
		return nil
	}
	for _, c := range in.Catalogs {
		if c.Index == nil {
			continue
		}
		if b, ok := c.Index.BundleV1(e.Package, name); ok {
			in.Installed = &resolution.Installed{Name: name, Version: b.Version}
			return nil
		}
	}
	return fmt.Errorf("find installed bundle %s: package %s of no catalog has it; correct its name, or say its version: %s@VERSION", name, e.Package, name)
}
