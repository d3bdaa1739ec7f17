package preview

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"
)

// remedies are the commands that put right what the Subscription of an operator asks for, or let it go on. Where the question is not about a
// cluster there is nothing that they could change.
func (p *Preview) remedies(name string) []string {
	if !p.fit.complete {
		return nil
	}
	pkg := p.packageOf(name)
	var all []string
	for i := range p.observed.Subscriptions {
		sub := &p.observed.Subscriptions[i]
		if sub.Name != name && sub.Spec.Package != pkg || sub.ResourceVersion == "" { // one that was only asked about
			continue
		}
		where := " -n " + Quoted(sub.Namespace)
		if p.unanswered(sub.Name) {
			all = append(all, p.corrections(sub, where)...)
		}
		if ref := sub.Status.InstallPlanRef; ref != nil {
			for i := range p.observed.Plans {
				if plan := &p.observed.Plans[i]; plan.Name == ref.Name && !plan.Spec.Approved && plan.Status.Phase == v1alpha1.InstallPlanPhaseRequiresApproval {
					all = append(all, "fairlead approve "+Quoted(sub.Name)+where)
				}
			}
		}
	}
	return all
}

// unanswered reports whether there is no answer for a Subscription.
func (p *Preview) unanswered(name string) bool {
	return slices.ContainsFunc(p.result.Groups, func(g resolution.Group) bool { return g.Err != nil && slices.Contains(g.Subscriptions, name) })
}

// corrections are the commands that let a Subscription ask for what its catalog has.
func (p *Preview) corrections(sub *v1alpha1.Subscription, where string) []string {
	for _, s := range p.observed.Sources {
		if !s.Healthy() || s.Object.Name != sub.Spec.CatalogSource || s.Object.Namespace != sub.Spec.CatalogSourceNamespace {
			continue
		}
		x := s.Served.Index
		info, served := x.Package(sub.Spec.Package)
		if !served {
			if near := messages.Closest(sub.Spec.Package, x.PackageNames()); near != "" {
				return []string{"fairlead uninstall " + Quoted(sub.Name) + where, "fairlead install " + Quoted(near) + where}
			}
			return nil
		}
		var channels []string
		for _, c := range info.Channels {
			channels = append(channels, c.Name)
		}
		if to := instead(sub.Spec.Channel, channels, info.DefaultChannel); to != "" {
			return []string{"fairlead upgrade " + Quoted(sub.Name) + where + " --channel " + Quoted(to)}
		}
	}
	return nil
}

// instead is the channel to follow instead of one that does not exist: the nearest one, else the default one; empty where it exists, or where
// there is none.
func instead(channel string, channels []string, standard string) string {
	if channel == "" || slices.Contains(channels, channel) {
		return ""
	}
	if near := messages.Closest(channel, channels); near != "" {
		return near
	}
	if slices.Contains(channels, standard) {
		return standard
	}
	return ""
}

// headline says in one line why there is no answer for a ClusterExtension; empty when there is one.
func (r *ExtensionResolution) headline() string {
	if r.Conflict == nil {
		return ""
	}
	what, why := "installed", r.Conflict.Summary
	if r.installed != "" {
		what = "upgraded"
	}
	channels, packages, _ := r.offered()
	switch r.Conflict.Reason {
	case resolution.PackageNotFound:
		why = "no catalog that is asked has package " + r.Package + messages.DidYouMean(r.Package, packages)
	case resolution.ChannelNotFound:
		for _, c := range r.request.Channels {
			if !slices.Contains(channels, c) {
				why = fmt.Sprintf("channel %s does not exist%s", c, messages.DidYouMean(c, channels))
				break
			}
		}
	}
	if r.Conflict.Reason == resolution.DependencyMissing && len(r.result.Missing) > 0 {
		needs := make([]string, len(r.result.Missing))
		for i, m := range r.result.Missing {
			needs[i] = strings.TrimSpace("package " + m.Packages[0] + " " + m.Version)
		}
		why = "it needs " + safetext.List(needs, maxShown, " and ") + ", which no ClusterExtension has installed"
	}
	return fmt.Sprintf("%s cannot be %s: %s", r.Package, what, why)
}

// offered are the channels of the package in all catalogs, the packages that they have, and the default channel.
func (r *ExtensionResolution) offered() (channels, packages []string, standard string) {
	for _, c := range r.request.Catalogs {
		if c.Index == nil {
			continue
		}
		packages = append(packages, c.Index.PackageNamesV1()...)
		if info, served := c.Index.PackageV1(r.Package); served {
			for _, channel := range info.Channels {
				channels = append(channels, channel.Name)
			}
			if standard == "" {
				standard = info.DefaultChannel
			}
		}
	}
	return channels, packages, standard
}

// remedies are the commands that let a ClusterExtension, which installs into a namespace, ask for what its catalogs have, or give it what it needs.
func (r *ExtensionResolution) remedies(namespace string) []string {
	if r.Conflict == nil {
		return nil
	}
	upgrade := "fairlead upgrade " + Quoted(r.Extension)
	switch r.Conflict.Reason {
	case resolution.ChannelNotFound:
		channels, _, standard := r.offered()
		for _, c := range r.request.Channels {
			if to := instead(c, channels, standard); to != "" {
				return []string{upgrade + " --channel " + Quoted(to)}
			}
		}
	case resolution.DependencyMissing:
		var all []string
		for _, m := range r.result.Missing {
			install := "fairlead install " + Quoted(m.Packages[0]) + " --api v1"
			if namespace != "" {
				install += " -n " + Quoted(namespace)
			}
			if m.Version != "" {
				install += " --version " + Quoted(m.Version)
			}
			all = append(all, install)
		}
		return all
	case resolution.VersionNotFound, resolution.InvalidRange:
		return []string{upgrade + " --version ''"}
	case resolution.DowngradeRefused:
		return []string{upgrade + " --upgrade-constraint-policy " + string(resolution.SelfCertified)}
	}
	return nil
}
