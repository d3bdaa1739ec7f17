package resolution

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/constraint"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/resolve"
	"fairlead.dev/fairlead/version"
)

// requirement is what a bundle requires of what is installed beside it.
type requirement struct {
	kind  string // the type of the property that says so
	field string
	what  constraint.Constraint
	err   error // why it cannot be read
}

func parseNeed(p catalog.Property) (*constraint.Constraint, error) {
	switch p.Type {
	case catalog.PropertyGVKRequired:
		var gvk catalog.GVK
		err := json.Unmarshal(p.Value, &gvk)
		return &constraint.Constraint{GVK: &gvk}, err
	case catalog.PropertyPackageRequired:
		var required struct{ PackageName, VersionRange string }
		if err := json.Unmarshal(p.Value, &required); err != nil {
			return nil, err
		}
		r, err := version.ParseRange(required.VersionRange)
		return &constraint.Constraint{Package: &constraint.Package{Name: required.PackageName, Range: r}}, err
	case catalog.PropertyLabelRequired:
		var required struct{ Label string }
		if err := json.Unmarshal(p.Value, &required); err != nil || required.Label == "" {
			return nil, errors.New("it names no label")
		}
		rule, err := constraint.Compile(fmt.Sprintf("properties.exists(p, p.type == %q && p.value.label == %q)", catalog.PropertyLabel, required.Label))
		return &constraint.Constraint{CEL: rule, FailureMessage: "label " + required.Label}, err
	}
	return constraint.Parse(p.Value)
}

// describe is a constraint in words.
func describe(c constraint.Constraint) string {
	text := ""
	switch {
	case c.GVK != nil:
		text = "an operator providing " + c.GVK.String()
	case c.Package != nil:
		text = fmt.Sprintf("an operator from package %s with version in range %s", c.Package.Name, c.Package.Range)
	case c.CEL != nil:
		text = fmt.Sprintf("an operator with constraint: %q", c.CEL.Text)
	case c.Any != nil && len(c.Any) == 0:
		text = "one of no constraints"
	case c.All != nil || c.Any != nil || c.Not != nil:
		list, word := slices.Concat(c.Any, c.Not), " or "
		if c.All != nil {
			list, word = c.All, " and "
		}
		text = "(" + cmp.Or(texts(list, word, describe), "nothing") + ")"
		if c.Not != nil {
			text = "the absence of " + text
		}
	}
	return text + said(c.FailureMessage)
}

// maxAsked bounds the questions whether something meets a need, in one decision.
const maxAsked = 20_000_000

// requirements states what bundles of an extension need of what other extensions have installed, and what those need of it.
type requirements struct {
	*selection
	world     world
	installed map[string]resolve.Var // those of the world that the problem speaks of, by the names of their extensions
	stakes    []stake
}

// facts describes what is installed.
func (b *requirements) facts() {
	for _, o := range b.in.Others {
		f := factOf(o.Package, o.Installed.Properties, o.Installed.Version.Version)
		f.extension, f.bundle = o.Name, o.Installed.Name
		b.world.facts = append(b.world.facts, f)
	}
	if b.in.Installed == nil {
		return
	}
	properties := b.in.Installed.Properties
	for _, c := range b.catalogs {
		if len(properties) > 0 || c.Index == nil {
			continue
		}
		if bundle, ok := c.Index.BundleV1(b.in.Package, b.in.Installed.Name); ok {
			properties = bundle.Properties
		}
	}
	b.world.own = factOf(b.in.Package, properties, b.in.Installed.Version.Version)
	b.world.own.bundle = b.in.Installed.Name
}

// needs states what a candidate requires. Other extensions have to have it installed: nothing is installed that no one asked for.
func (b *requirements) needs(c *candidate) {
	all := b.world.needsOf(c.fact())
	if len(all) > maxNeeds {
		o := b.needOrigin(c, "properties", "%s needs %d APIs, packages and other things; no more than %d are looked for", c.bundle.Name, len(all), maxNeeds)
		o.Hint = "ask the authors of package " + b.in.Package + " to let it need less"
		b.unmet(c, all[maxNeeds], o, "too many needs")
		return
	}
	for _, n := range all {
		if b.world.spent() {
			b.tooDear(c, n)
			return
		}
		if n.err != nil {
			o := b.needOrigin(c, n.field, "%s has an %s that cannot be read: %v", c.bundle.Name, n.kind, n.err)
			o.Hint = fmt.Sprintf("ask the authors of package %s to correct %s of %s", b.in.Package, strings.TrimPrefix(n.field, "properties, "), c.bundle.Name)
			b.unmet(c, n, o, "cannot be read")
			continue
		}
		b.world.use(n.what)
		text := describe(n.what)
		o := b.needOrigin(c, n.field, "%s requires %s", c.bundle.Name, text)
		holds := b.world.holds(n.what, b.world.besides(c.bundle.Package))
		if b.world.unknown(n.what) {
			b.tooDear(c, n)
			continue
		}
		if holds {
			b.problem.Formula(c.v, b.formula(n.what, c.bundle.Package), o)
			continue
		}
		if b.world.spent() {
			b.tooDear(c, n)
			continue
		}
		o.Text += ", and what other ClusterExtensions have installed does not meet that"
		o.Hint = b.provide(n.what, strings.TrimPrefix(n.field, "properties, ")+" of "+c.bundle.Name)
		o.Alike = "requires " + text
		if len(c.refusals) == 0 {
			b.problem.Formula(c.v, b.formula(n.what, c.bundle.Package), o)
		}
		c.refusals = append(c.refusals, refusal{rule: ruleNeed, origin: o, by: n.kind, lacks: b.lacks(n.what, c.bundle.Package)})
	}
}

// tooDear refuses a candidate because no one knows whether it has what it needs.
func (b *requirements) tooDear(c *candidate, n requirement) {
	o := b.needOrigin(c, n.field, "to find out whether the needs of %s are met costs too much", c.bundle.Name)
	o.Hint = "ask the authors of package " + b.in.Package + " for rules that cost less"
	b.unmet(c, n, o, "costs too much")
}

// unmet states that nothing can meet a need of the candidate.
func (b *requirements) unmet(c *candidate, n requirement, o resolve.Origin, alike string) {
	o.Alike = alike
	if len(c.refusals) == 0 {
		b.problem.Depends(c.v, nil, o)
	}
	c.refusals = append(c.refusals, refusal{rule: ruleNeed, origin: o, by: n.kind})
}

// needOrigin says where a rule about what the candidate needs comes from.
func (b *requirements) needOrigin(c *candidate, field, format string, args ...any) resolve.Origin {
	o := b.originOf(c, field, format, args...)
	o.Object = "bundle " + c.bundle.Name
	return o
}

// formula is a constraint over what is installed.
func (b *requirements) formula(c constraint.Constraint, pkg string) resolve.Formula {
	parts := func(list []constraint.Constraint) []resolve.Formula {
		out := make([]resolve.Formula, len(list))
		for i, part := range list {
			out[i] = b.formula(part, pkg)
		}
		return out
	}
	switch {
	case c.All != nil:
		return resolve.All(parts(c.All)...)
	case c.Any != nil:
		return resolve.Any(parts(c.Any)...)
	case c.Not != nil:
		return resolve.Not(resolve.Any(parts(c.Not)...))
	}
	var met []resolve.Formula
	for _, f := range b.world.besides(pkg) {
		if b.world.meets(c, f) {
			met = append(met, resolve.Lit(b.present(f)))
		}
	}
	return resolve.Any(met...)
}

// present is the Var of what another extension has installed, which is a fact.
func (b *requirements) present(f *fact) resolve.Var {
	v, known := b.installed[f.extension]
	if !known {
		v = b.problem.Var("installed:" + f.extension)
		b.installed[f.extension] = v
		b.problem.Require(v, resolve.Origin{Object: "ClusterExtension " + f.extension, Field: "status.install.bundle",
			Text: fmt.Sprintf("ClusterExtension %s has %s installed", f.extension, f.bundle)})
	}
	return v
}

// lacks is what would have to be installed to meet a constraint; nil when no one has that.
func (b *requirements) lacks(c constraint.Constraint, own string) []Missing {
	switch {
	case b.world.holds(c, b.world.besides(own)):
		return []Missing{}
	case c.All != nil:
		all := []Missing{}
		for _, part := range c.All {
			more := b.lacks(part, own)
			if more == nil {
				return nil
			}
			all = append(all, more...)
		}
		return all
	case c.Any != nil:
		for _, part := range c.Any {
			if some := b.lacks(part, own); some != nil {
				return some
			}
		}
		return nil
	}
	packages := b.providers(c)
	if len(packages) == 0 {
		return nil
	}
	one := Missing{Packages: packages}
	if c.Package != nil {
		one.Version = c.Package.Range.String()
	}
	return []Missing{one}
}

// provide says what to create so that a need, which stands in a certain place, is met.
func (b *requirements) provide(c constraint.Constraint, place string) string {
	packages := b.providers(c)
	switch {
	case c.GVK == nil && c.Package == nil:
		if c.FailureMessage != "" {
			const short = 120
			place += " (" + messages.Line(c.FailureMessage, short) + ")"
		}
		return "create, upgrade or delete ClusterExtensions so that what " + place + " asks for is met"
	case len(packages) == 0:
		return "create a ClusterCatalog that has " + describe(c) + ", and a ClusterExtension for it"
	case c.Package != nil:
		return fmt.Sprintf("create a ClusterExtension for package %s, or upgrade the one that there is, with %s %q", packages[0], fieldVersion, c.Package.Range)
	}
	return "create a ClusterExtension for " + oneOf("package", packages)
}
