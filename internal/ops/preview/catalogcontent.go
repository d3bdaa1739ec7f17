package preview

import (
	"context"
	"errors"
	"fmt"
	"net"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// CatalogContent is what a catalog of a cluster has, and what is wrong with it.
type CatalogContent struct {
	Digest   string `json:"digest"`
	Packages int    `json:"packages"`
	Versions int    `json:"versions"`
	// Problems are the rules that it breaks: those of errors first, of which packages, channels or bundles are left out.
	Problems []ContentProblem `json:"problems,omitempty"`
	// Errors is how many of all problems are errors, and More how many problems are not listed.
	Errors int `json:"errors,omitempty"`
	More   int `json:"more,omitempty"`
}

// ContentProblem is a rule that a catalog breaks.
type ContentProblem struct {
	Severity string `json:"severity"`
	Rule     string `json:"rule"`
	Object   string `json:"object,omitempty"`
	Place    string `json:"place,omitempty"`
	Message  string `json:"message"`
	Fix      string `json:"fix,omitempty"`
}

// maxProblems is how many are listed.
const maxProblems = 200

// Content reads what a CatalogSource or ClusterCatalog has, from where the manager reads it, with the pull secrets that the reader may read.
func (l *Library) Content(ctx context.Context, reader client.Reader, dial func(ctx context.Context, address string) (net.Conn, error), object client.Object) (_ *CatalogContent, err error) {
	x, err := l.open(ctx, reader, dial, object)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	_, v1 := object.(*olmv1.ClusterCatalog)
	return contentOf(x, v1), nil
}

// open reads the content of a catalog of the cluster.
func (l *Library) open(ctx context.Context, reader client.Reader, dial dialContext, object client.Object) (*catalog.Index, error) {
	l.reach(dial)
	switch o := object.(type) {
	case *v1alpha1.CatalogSource:
		q := Question{Secrets: reader, Dial: dial}
		return q.content(ctx, l, o)
	case *olmv1.ClusterCatalog:
		if o.Spec.Source.Image == nil {
			return nil, fmt.Errorf("ClusterCatalog %s names no image: set spec.source.image.ref", o.Name)
		}
		return l.Image(ctx, o.Spec.Source.Image.Ref, image.Auth{})
	}
	return nil, fmt.Errorf("read the catalog in a %T: it is neither a CatalogSource nor a ClusterCatalog", object)
}

func contentOf(x *catalog.Index, v1 bool) *CatalogContent {
	c := &CatalogContent{Digest: x.Digest()}
	names, find := x.PackageNames(), x.Package
	if v1 {
		names, find = x.PackageNamesV1(), x.PackageV1
	}
	c.Packages = len(names)
	for _, name := range names {
		if p, served := find(name); served {
			c.Versions += len(versionsOf(p))
		}
	}
	for _, severity := range []catalog.Severity{catalog.Error, catalog.Warning} {
		for _, p := range x.Problems() {
			if p.Severity != severity {
				continue
			}
			if severity == catalog.Error {
				c.Errors++
			}
			if len(c.Problems) >= maxProblems {
				c.More++
				continue
			}
			place := ""
			if p.Position != (catalog.Position{}) {
				place = p.Position.String()
			}
			c.Problems = append(c.Problems, ContentProblem{string(p.Severity), string(p.Rule), p.Object.String(), place, p.Message, p.Fix})
		}
	}
	return c
}

// versionsOf are the bundles that are in a channel of a package, by name.
func versionsOf(p *catalog.PackageInfo) map[string]bool {
	all := map[string]bool{}
	for _, channel := range p.Channels {
		for _, e := range channel.Entries {
			all[e.Name] = true
		}
	}
	return all
}
