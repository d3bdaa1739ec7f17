package preview

import (
	"context"
	"fmt"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/resolution"
)

// The rules that decide between two versions that a ClusterExtension may have, in their order.
const (
	ruleNotDeprecated resolution.Rule = "what is not deprecated comes before what is"
	ruleHigherVersion resolution.Rule = "the highest version comes first"
)

// namespaceOf is the namespace that a ClusterExtension installs into; empty for one that is only asked about.
func namespaceOf(p *Preview, extension string) string {
	if i := slices.IndexFunc(p.objects, func(o olmv1.ClusterExtension) bool { return o.Name == extension }); i >= 0 {
		return p.objects[i].Spec.Namespace
	}
	return ""
}

// whyExtension tells why a bundle is, or would be, installed for a ClusterExtension, which is named by itself, its package or its bundle;
// nil when there is none.
func (p *Preview) whyExtension(name string) *Why {
	for _, e := range p.extensions {
		if e.Extension == name || e.Package == name || e.installed == name || len(e.Install) > 0 && e.Install[0].Name == name {
			w := &Why{Operator: e.installed, State: StateInstalled, Extension: e.Extension, Because: []resolution.Because{}, Conflict: e.conflict()}
			if e.Conflict != nil {
				w.told = e.Conflict.Error()
			}
			if w.Headline = e.headline(); p.fit.complete {
				w.Remedies = e.remedies(namespaceOf(p, e.Extension))
			}
			switch {
			case len(e.Install) > 0 && e.installed == name:
				w.State, w.ReplacedBy = StateReplaced, e.Install[0].Name
			case len(e.Install) > 0:
				w.Operator, w.State, w.Install = e.Install[0].Name, StateChosen, &e.Install[0]
			case e.installed == "":
				w.Operator, w.State = name, StateAbsent
				w.Advice = "ClusterExtension " + e.Extension + " asks for it"
				return w
			}
			w.Because = []resolution.Because{e.because()}
			w.Held = e.held()
			return w
		}
	}
	return nil
}

// held is what keeps a better version back, as it is told of Subscriptions. What comes in its turn is not kept back.
func (r *ExtensionResolution) held() []resolution.Held {
	var all []resolution.Held
	for _, h := range r.Held {
		if h.Upgrades == 0 {
			all = append(all, resolution.Held{Asker: "ClusterExtension " + r.Extension, Wanted: h.Wanted, Instead: h.Instead, Reason: h.Reason,
				Conflict: &resolution.Conflict{Summary: h.Reason, Chain: []resolution.Link{}, Advice: h.Advice}})
		}
	}
	return all
}

// conflict is why there is no answer, as it is told of Subscriptions; nil when there is one.
func (r *ExtensionResolution) conflict() *resolution.Conflict {
	if r.Conflict == nil {
		return nil
	}
	return &resolution.Conflict{Summary: r.Conflict.Summary, Chain: r.Conflict.Chain, Advice: r.Conflict.Advice}
}

// because is what asks for the bundle, and the rule that preferred it over the next one that could be had.
func (r *ExtensionResolution) because() resolution.Because {
	need := "asks for package " + r.Package
	if v := r.request.Version; v != "" {
		need += fmt.Sprintf(", version %q", v)
	}
	if c := r.request.Channels; len(c) > 0 {
		need += ", channels " + strings.Join(c, ", ")
	}
	b := resolution.Because{Asker: "ClusterExtension " + r.Extension, Need: "ClusterExtension " + r.Extension + " " + need}
	free := slices.DeleteFunc(slices.Clone(r.Candidates), func(c resolution.Candidate) bool { return len(c.Refused) > 0 })
	switch {
	case len(free) == 1:
		b.Rule = resolution.RuleLastCandidate
	case len(free) > 1:
		b.Rule, b.Over = r.rule(&free[0], &free[1]), free[1].Name
	}
	return b
}

// rule is what puts one candidate before the next.
func (r *ExtensionResolution) rule(first, second *resolution.Candidate) resolution.Rule {
	switch {
	case first.Deprecated != second.Deprecated:
		return ruleNotDeprecated
	case first.Catalog != second.Catalog:
		return resolution.RulePriority
	}
	return ruleHigherVersion
}

// verdicts tell of each version of a package, or of one by its version or name, why the extension does not get it.
func (r *ExtensionResolution) verdicts(pkg, version string) []Verdict {
	if r.Package != pkg {
		return nil
	}
	var all []Verdict
	for i := range r.Candidates {
		if c := &r.Candidates[i]; version == "" || c.Version == version || c.Name == version {
			v := Verdict{Extension: r.Extension, Channels: c.Channels, Verdict: resolution.Verdict{Name: c.Name, Package: r.Package, Version: c.Version,
				Channel: r.channel(c.Catalog, c.Channels), Catalog: c.Catalog, Reasons: append([]string{}, c.Refused...)}}
			v.Installed = r.installed == c.Name
			v.Chosen = len(r.Install) > 0 && r.Install[0].Name == c.Name && r.Install[0].Catalog == c.Catalog
			free := slices.IndexFunc(r.Candidates, func(o resolution.Candidate) bool { return len(o.Refused) == 0 })
			switch {
			case v.Chosen:
				v.Reasons = []string{r.because().Need}
			case len(c.Refused) > 0 || v.Installed:
			case r.Conflict != nil:
				v.Reasons = []string{r.Conflict.Summary}
				v.Advice = r.Conflict.Advice
			case free >= 0 && r.Candidates[free].Name != c.Name:
				v.Reasons = []string{fmt.Sprintf("%s is preferred: %s", r.Candidates[free].Name, r.rule(&r.Candidates[free], c))}
			}
			for _, h := range r.Held {
				if h.Wanted == c.Name && h.Catalog == c.Catalog {
					v.Advice = h.Advice
				}
			}
			all = append(all, v)
		}
	}
	return all
}

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
