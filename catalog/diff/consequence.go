package diff

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
)

// consequences says what the changes of a package mean.
func consequences(before, after *catalog.Index, c comparison) []Consequence {
	old, ok := before.Package(c.name)
	if !ok {
		return nil // no one can have been using it
	}
	j := judge{old: old}
	now, ok := after.Package(c.name)
	if !ok {
		reason := "the package is gone"
		if c.now != nil {
			reason = "the package is broken now and is not served"
		}
		j.say(true, "", "", reason+": nothing of it can be installed or upgraded any more")
		return j.found
	}
	j.now, j.channels, j.defined = now, map[string]*catalog.ChannelInfo{}, map[string]bool{}
	for _, ch := range now.Channels {
		j.channels[ch.Name] = ch
	}
	for _, ch := range c.now.channels {
		j.defined[ch.Name] = true
	}
	if j.old.DefaultChannel != j.now.DefaultChannel {
		j.say(false, j.now.DefaultChannel, "", fmt.Sprintf("who names no channel follows %s now, no longer %s", j.now.DefaultChannel, j.old.DefaultChannel))
	}
	for _, ch := range slices.SortedFunc(slices.Values(old.Channels), func(a, b *catalog.ChannelInfo) int { return strings.Compare(a.Name, b.Name) }) {
		// Judge a channel that was served.
		now, ok := j.channels[ch.Name]
		if !ok {
			reason := "the channel is gone"
			if j.defined[ch.Name] {
				reason = "the channel is broken now and is not served"
			}
			j.say(true, ch.Name, "", reason+": who follows it gets no more upgrades")
			continue
		}
		j.head(ch, now)
		for _, lost := range lostWays(j.old, ch, now) {
			j.say(lost.breaking, ch.Name, lost.bundle, lost.message)
		}
	}
	j.bundles(c.name, before, after)
	return j.found
}

// judge collects the consequences for a package.
type judge struct {
	old, now *catalog.PackageInfo
	channels map[string]*catalog.ChannelInfo // that are served now
	defined  map[string]bool                 // channels that are there, perhaps broken
	found    []Consequence
}

func (j *judge) say(breaking bool, channel, bundle, message string) {
	j.found = append(j.found, Consequence{Breaking: breaking, Channel: channel, Bundle: bundle, Message: message})
}

// head judges a change of a channel's head.
func (j *judge) head(old, now *catalog.ChannelInfo) {
	if old.Head == now.Head {
		return
	}
	was, is := old.Entries[0].Bundle.Version, now.Entries[0].Bundle.Version
	if is.Compare(was) < 0 {
		j.say(true, old.Name, now.Head, fmt.Sprintf("the head steps back from %s to %s, which is older", old.Head, now.Head))
		return
	}
	j.say(false, old.Name, now.Head, fmt.Sprintf("the head is %s now, no longer %s", now.Head, old.Head))
}

// bundles judges what was installable and is not, or is something else.
func (j *judge) bundles(pkg string, before, after *catalog.Index) {
	seen := map[string]bool{}
	var names []string
	for _, c := range j.old.Channels {
		for _, e := range c.Entries {
			if !seen[e.Name] {
				seen[e.Name] = true
				names = append(names, e.Name)
			}
		}
	}
	slices.Sort(names)
	for _, name := range names {
		old, _ := before.Bundle(pkg, name)
		now, ok := after.Bundle(pkg, name)
		switch {
		case !ok:
			j.say(false, "", name, "it can no longer be installed; pinned to it, an installation fails")
		case old.Version.Compare(now.Version) != 0:
			j.say(true, "", name, fmt.Sprintf("its version was %s and is %s: the order of upgrades changes where it is installed", old.Version, now.Version))
		case now.Deprecated && !old.Deprecated:
			j.say(false, "", name, "it has the property olm.deprecated now: a Subscription never installs it any more")
		case old.Image != now.Image:
			j.say(false, "", name, "its image is another one under the same name: clusters that have it keep what they have")
		}
	}
}
