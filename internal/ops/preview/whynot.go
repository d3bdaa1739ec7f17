package preview

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"
)

// WhyNot is why the entries of a package, or those of one version, are not chosen.
type WhyNot struct {
	Package  string    `json:"package"`
	Version  string    `json:"version,omitempty"`
	Verdicts []Verdict `json:"verdicts"`

	again func(args ...string) string
}

// Verdict is why one entry is not chosen, and what to change to have it.
type Verdict struct {
	resolution.Verdict
	// Extension is the ClusterExtension that it is about; empty for what the Subscriptions of the namespace get.
	Extension string `json:"extension,omitempty"`
	Advice    string `json:"advice,omitempty"`
	// Channels are all that it is in, where that may be more than one.
	Channels []string `json:"channels,omitempty"`
}

// WhyNot tells of each entry of a package in view, or of those with a version or name, which rules decided about it.
func (p *Preview) WhyNot(ctx context.Context, pkg, version string) (WhyNot, error) {
	w := WhyNot{Package: pkg, Version: version, Verdicts: []Verdict{}, again: p.again.command}
	verdicts, err := p.result.WhyNot(ctx, pkg, version)
	if slices.ContainsFunc(p.extensions, func(e *ExtensionResolution) bool { return e.Package == pkg }) &&
		!slices.ContainsFunc(verdicts, func(v resolution.Verdict) bool { return v.Chosen || v.Installed }) && p.askerOf(pkg) == "" {
		verdicts = nil // the package is a matter of ClusterExtensions, and of no Subscription or operator of the namespace
	}
	for _, v := range verdicts {
		w.Verdicts = append(w.Verdicts, p.told(v, version))
	}
	w.Verdicts = append(w.Verdicts, p.writtenWhyNot(pkg, version)...)
	for _, e := range p.extensions {
		verdicts := e.verdicts(pkg, version)
		for i := range verdicts {
			if v := &verdicts[i]; version != "" && v.Advice == "" && !v.Chosen && !v.Installed {
				v.Advice = e.wayTo(ctx, v)
			}
		}
		w.Verdicts = append(w.Verdicts, verdicts...)
	}
	if err == nil && len(w.Verdicts) == 0 {
		// Say why there is nothing to tell of.
		var all []resolution.Verdict
		if all, err = p.result.WhyNot(ctx, pkg, ""); err != nil {
			return w, err
		}
		text, hint := p.result.Withheld(pkg)
		switch {
		case len(all) > 0 || slices.ContainsFunc(p.extensions, func(e *ExtensionResolution) bool { return len(e.verdicts(pkg, "")) > 0 }):
			err = &messages.AskedError{Lack: messages.NotThere, Text: fmt.Sprintf("tell why not %s@%s: no catalog has that version of the package", pkg, version),
				Command: strings.TrimPrefix(p.again.toSee("; to see those there are", "why-not", pkg), "; ")}
		case text != "":
			err = &messages.AskedError{Lack: messages.NotThere, Text: fmt.Sprintf("tell why not %s: %s", pkg, text), Command: hint}
		default:
			err = &messages.AskedError{Lack: messages.NotThere, Text: fmt.Sprintf("tell why not %s: no catalog has a package of that name; correct it, or add its catalog (%s)%s", pkg, p.whereLooked(),
				messages.DidYouMean(pkg, names(p)))}
		}
	}
	return w, err
}

// told is a verdict and what to do. A Subscription that is left alone exists, and its package is asked for.
func (p *Preview) told(v resolution.Verdict, version string) Verdict {
	v.Reasons = append([]string{}, v.Reasons...)
	if !v.Chosen && !v.Installed && !slices.ContainsFunc(p.input.Subscriptions, func(s resolution.Subscription) bool { return s.Package == v.Package }) {
		for _, l := range p.leftAlone() {
			if p.observed.Subscription(l.Subscription).Spec.Package == v.Package {
				v.Reasons = []string{fmt.Sprintf("subscription %s asks for package %s and is left alone: %s", l.Subscription, v.Package, l.Reason)}
				return Verdict{Verdict: v}
			}
		}
	}
	return Verdict{Verdict: v, Advice: p.wayTo(v, version)}
}

// askerOf is a Subscription that asks for a package, whether it takes part or not; empty when there is none.
func (p *Preview) askerOf(pkg string) string {
	for i := range p.observed.Subscriptions {
		if sub := &p.observed.Subscriptions[i]; sub.Spec.Package == pkg {
			return sub.Name
		}
	}
	return ""
}

// wayTo says what to change to have an entry; empty when its reasons say all there is to say.
func (p *Preview) wayTo(v resolution.Verdict, version string) string {
	switch {
	case v.Chosen || v.Installed:
		return ""
	case v.Conflict != nil:
		return v.Conflict.Advice
	}
	for _, s := range p.input.Subscriptions {
		switch {
		case s.Package != v.Package:
		case s.Catalog.String() != v.Catalog:
			return fmt.Sprintf("to follow catalog %s, set spec.source and spec.sourceNamespace of Subscription %s", v.Catalog, s.Name)
		case s.Channel != "" && s.Channel != v.Channel:
			return fmt.Sprintf("to follow channel %s, set spec.channel of Subscription %s", v.Channel, s.Name)
		default:
			return ""
		}
	}
	if version != "" {
		version = "@" + v.Name
	}
	return p.again.toSee("to see what a Subscription would do", "resolve", "--subscribe", fmt.Sprintf("%s:%s%s%%%s", v.Package, v.Channel, version, v.Catalog))
}

// whereLooked names the catalogs in view.
func (p *Preview) whereLooked() string {
	var names, dead []string
	for _, s := range p.observed.Sources {
		if !s.Healthy() {
			dead = append(dead, s.Ref().String())
		}
		names = append(names, s.Ref().String())
	}
	where := "there is no catalog in view of namespace " + p.observed.Name
	if len(names) > 0 {
		where = "in view of namespace " + p.observed.Name + ": " + strings.Join(names, ", ")
	}
	if len(dead) > 0 {
		where += "; cannot be read: " + strings.Join(dead, ", ")
	}
	return where
}
