package catalogstore

import (
	"fmt"
	"maps"
	"slices"

	"fairlead.dev/fairlead/bundle/packagemanifest"
	"fairlead.dev/fairlead/catalog"
)

// listed is a package, put together from all elements that list it.
type listed struct {
	place string // of the first one
	packagemanifest.Package
}

// addChannels adds the channels of one element to its package.
func (c *content) addChannels(p *listed, from item[packagemanifest.Package]) {
	for i, channel := range from.value.Channels {
		place := fmt.Sprintf("%s.channels[%d]", from.place, i)
		known := slices.IndexFunc(p.Channels, func(have packagemanifest.Channel) bool { return have.Name == channel.Name })
		_, there := c.operators[channel.CurrentCSV]
		switch {
		case channel.Name == "":
			c.warn(place, "the channel of package %s has no name and is left out; name it", p.PackageName)
		case known >= 0 && p.Channels[known] == channel:
		case known >= 0:
			c.warn(place, "channel %s of package %s is listed before with the head %s, and that one is served; keep one of the two", channel.Name, p.PackageName, p.Channels[known].CurrentCSV)
		case !there:
			why, fix := fmt.Sprintf("is none of the %s", keyCSVs), "correct currentCSV, or add it"
			if unread := c.unread[channel.CurrentCSV]; unread != "" {
				why, fix = "cannot be used: "+unread, "correct that"
			}
			c.leaveOut(place, fmt.Sprintf("channel %s of package %s", channel.Name, p.PackageName),
				catalog.Object{Schema: catalog.SchemaChannel, Package: p.PackageName, Name: channel.Name},
				fmt.Sprintf(", because its head %q %s", channel.CurrentCSV, why), fix)
		default:
			p.Channels = append(p.Channels, channel)
		}
	}
	if p.DefaultChannel == "" {
		p.DefaultChannel = from.value.DefaultChannel
	}
}

// settleDefault takes the first channel by name where the default channel is none of those that are served, as PackageManifests show it.
func (c *content) settleDefault(p *listed) {
	if len(p.Channels) == 0 {
		const why, fix = ", because it has no channel that can be served", "add one"
		if slices.ContainsFunc(c.problems, func(have catalog.Problem) bool { return have.Object.Package == p.PackageName }) {
			c.warn(p.place, "package %s is left out%s; %s", p.PackageName, why, fix) // what is wrong with its channels says more
		} else {
			c.leaveOut(p.place, "package "+p.PackageName, packageObject(p.PackageName), why, fix)
		}
		return
	}
	names := make([]string, len(p.Channels))
	for i, channel := range p.Channels {
		names[i] = channel.Name
	}
	if slices.Contains(names, p.DefaultChannel) {
		return
	}
	asked := p.DefaultChannel
	p.DefaultChannel = slices.Min(names)
	if asked != "" || len(names) > 1 {
		c.warn(p.place, "the default channel %q of package %s is none of its channels; %s, the first by name, is served as such: correct defaultChannel", asked, p.PackageName, p.DefaultChannel)
	}
}

// reached are the ClusterServiceVersions that the channels of a package lead to, sorted.
func (c *content) reached(p listed) []string {
	seen := map[string]bool{}
	var follow func(name string)
	follow = func(name string) {
		o, ok := c.operators[name]
		if !ok || seen[name] {
			return
		}
		seen[name] = true
		follow(o.value.Spec.Replaces)
		for _, skipped := range o.value.Spec.Skips {
			follow(skipped)
		}
	}
	for _, channel := range p.Channels {
		follow(channel.CurrentCSV)
	}
	return slices.Sorted(maps.Keys(seen))
}
