package graph

import (
	"fmt"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

// Installed is a version of a package that runs somewhere.
type Installed struct {
	Package string `json:"package"`
	// Channel is the one that is followed; empty means all of the package.
	Channel string `json:"channel,omitempty"`
	// Version is a version, or the name of a bundle. The catalog need not hold it.
	Version string `json:"version"`
}

// String is the form that ParseInstalled reads.
func (i Installed) String() string {
	if i.Channel == "" {
		return i.Package + "=" + i.Version
	}
	return i.Package + "/" + i.Channel + "=" + i.Version
}

// ParseInstalled reads "package=version" or "package/channel=version", where a
// version may be the name of a bundle.
func ParseInstalled(text string) (Installed, error) {
	what, v, ok := strings.Cut(text, "=")
	pkg, channel, named := strings.Cut(what, "/")
	if !ok || pkg == "" || v == "" || named && channel == "" {
		return Installed{}, fmt.Errorf("installed version %s: write package=version or package/channel=version", safetext.Quote(text))
	}
	return Installed{Package: pkg, Channel: channel, Version: v}, nil
}

// Outcome is what becomes of an installed version with a catalog.
type Outcome struct {
	Installed
	// Problem says why there is nothing to follow, in which case there is no Journey.
	Problem string   `json:"problem,omitempty"`
	Journey *Journey `json:"journey,omitempty"`
}

// Simulate follows installed versions as far as the catalog leads them, in the
// order given. Each is followed once, however often it is given.
func Simulate(c *catalog.Catalog, installed []Installed) []Outcome {
	fleet := fleet{networks: map[string]*network{}, walks: map[Installed]*walk{}}
	if len(installed) > 0 {
		for _, n := range networks(c) {
			fleet.networks[n.name] = n
		}
	}
	outcomes := make([]Outcome, len(installed))
	starts := make([]*node, len(installed))
	for i, in := range installed { // all that is unknown has a place before anyone walks
		if n := fleet.networks[in.Package]; n != nil {
			starts[i] = n.locate(in.Version)
		}
	}
	first := map[Installed]int{} // a fleet mostly runs the same versions
	for i, in := range installed {
		if j, known := first[in]; known {
			outcomes[i] = outcomes[j]
			continue
		}
		first[in] = i
		outcomes[i].Installed = in
		journey, err := fleet.follow(in, starts[i])
		if err != nil {
			outcomes[i].Problem = err.Error()
		} else {
			outcomes[i].Journey = &journey
		}
	}
	return outcomes
}

type fleet struct {
	networks map[string]*network
	walks    map[Installed]*walk // by package and channel
}

func (f *fleet) follow(in Installed, start *node) (Journey, error) {
	n := f.networks[in.Package]
	if n == nil || len(n.channels) == 0 {
		return Journey{}, fmt.Errorf("the catalog has no package %s with channels", safetext.Quote(in.Package))
	}
	if start == nil {
		return Journey{}, fmt.Errorf("package %s has no bundle %s, and it is no version either", safetext.Quote(in.Package), safetext.Quote(in.Version))
	}
	key := Installed{Package: in.Package, Channel: in.Channel}
	w := f.walks[key]
	if w == nil {
		s, err := n.scope(in.Channel)
		if err != nil {
			return Journey{}, err
		}
		w = newWalk(n, s)
		f.walks[key] = w
	}
	to, err := w.scope.heads()
	if err != nil {
		return Journey{}, err
	}
	return w.journey(Query{Package: in.Package, Channel: in.Channel}, start, to), nil
}

// findings are what is wrong with the outcome.
func (o Outcome) findings(c *catalog.Catalog) []Finding {
	p := catalog.Problem{Severity: catalog.Error, Object: catalog.Object{Schema: catalog.SchemaPackage, Name: o.Package}}
	for i := range c.Packages {
		if c.Packages[i].Name == o.Package {
			p.Position = c.Packages[i].Position
			break
		}
	}
	if o.Journey == nil {
		p.Rule, p.Message, p.Fix = RuleInstalledUnknown, fmt.Sprintf("installed %s cannot be followed: %s", o.Installed, o.Problem), "correct the list of what is installed, or add to the catalog what is missing"
		return []Finding{{Problem: p, Semantics: both}}
	}
	var found []Finding
	for _, r := range []struct {
		holds []Semantics
		route Route
	}{{onlyV0, o.Journey.V0}, {onlyV1, o.Journey.V1}} {
		if !r.route.Reached {
			p.Rule, p.Fix = RuleInstalledStuck, r.route.Remedy
			p.Message = fmt.Sprintf("installed %s does not come to %s: %s", o.Installed, o.Journey.To, r.route.Reason)
			found = append(found, Finding{Problem: p, Semantics: r.holds})
		}
	}
	return found
}
