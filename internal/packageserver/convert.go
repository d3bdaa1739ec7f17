package packageserver

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/catalog"
)

// Package is what a catalog offers of one package, without what names the catalog.
type Package struct {
	// Labels are those of the operator in the default channel, with its provider.
	Labels map[string]string
	// Status has empty fields where the catalog is named, and no icons.
	Status packagesv1.PackageManifestStatus
}

// Convert describes a package of a catalog; ok is false when nothing of it can be shown. A channel whose head cannot be described is
// left out; when that is the default channel, the first one that is left takes its place. The error is that of heads which cannot be read
// from the index: what is shown without them is not all that the catalog says.
func Convert(x *catalog.Index, name string) (p Package, ok bool, err error) {
	info, found := x.Package(name)
	if !found {
		return Package{}, false, nil
	}
	heads := map[string]*operator{}
	for _, c := range byName(info) {
		head, wrong := describeVersion(x, info, c)
		if wrong != nil {
			if errors.As(wrong, &unreadVersion{}) {
				err = cmp.Or(err, wrong)
			}
			continue
		}
		heads[c.Name] = head
		p.Status.Channels = append(p.Status.Channels, channel(c, head))
	}
	if len(heads) == 0 {
		return Package{}, false, err
	}
	p.Status.DefaultChannel = info.DefaultChannel
	if heads[info.DefaultChannel] == nil {
		p.Status.DefaultChannel = p.Status.Channels[0].Name
	}
	lifecycle, wrong := x.Lifecycle(name)
	if wrong != nil && !errors.Is(wrong, catalog.ErrLifecycle) { // what is written wrongly says nothing
		err = cmp.Or(err, error(unreadVersion{wrong}))
	}
	p.Status.Lifecycle = lifecycleOf(lifecycle)
	operator := heads[p.Status.DefaultChannel]
	p.Status.PackageName = info.Name
	p.Status.Provider = operator.description.Provider
	p.Status.Deprecation = deprecation(info.Deprecation)
	// The labels are those of the operator, who provides it, and where it runs: an operator that says nothing about that runs on the usual.
	p.Labels = map[string]string{v1alpha1.PackageProviderLabel: p.Status.Provider.Name, v1alpha1.PackageProviderURLLabel: p.Status.Provider.URL}
	os, arch := false, false
	for key, value := range operator.labels {
		p.Labels[key] = value
		os = os || strings.HasPrefix(key, v1alpha1.OSLabelPrefix)
		arch = arch || strings.HasPrefix(key, v1alpha1.ArchLabelPrefix)
	}
	if !os {
		p.Labels[v1alpha1.OSLabelPrefix+"linux"] = v1alpha1.SystemSupportedValue
	}
	if !arch {
		p.Labels[v1alpha1.ArchLabelPrefix+"amd64"] = v1alpha1.SystemSupportedValue
	}
	return p, true, err
}

func byName(p *catalog.PackageInfo) []*catalog.ChannelInfo {
	return slices.SortedFunc(slices.Values(p.Channels), func(a, b *catalog.ChannelInfo) int { return cmp.Compare(a.Name, b.Name) })
}

// channel lists the bundles of a channel, the newest first, without those that no one is to install any more.
func channel(c *catalog.ChannelInfo, head *operator) packagesv1.PackageChannel {
	offered := slices.DeleteFunc(slices.Clone(c.Entries), func(e *catalog.EntryInfo) bool { return e.Bundle.Deprecated })
	slices.SortFunc(offered, func(a, b *catalog.EntryInfo) int {
		return cmp.Or(b.Bundle.Version.Compare(a.Bundle.Version), cmp.Compare(a.Name, b.Name))
	})
	entries := make([]packagesv1.ChannelEntry, len(offered))
	for i, e := range offered {
		entries[i] = packagesv1.ChannelEntry{Name: e.Name, Version: e.Bundle.VersionText, Deprecation: deprecation(e.Bundle.Deprecation)}
	}
	return packagesv1.PackageChannel{
		Name: c.Name, CurrentCSV: c.Head, CurrentCSVDesc: head.description, Deprecation: deprecation(c.Deprecation), Entries: entries,
	}
}

func deprecation(message string) *packagesv1.Deprecation {
	if message == "" {
		return nil
	}
	return &packagesv1.Deprecation{Message: message}
}

func lifecycleOf(l catalog.Lifecycle) []packagesv1.VersionLifecycle {
	var all []packagesv1.VersionLifecycle
	moment := func(t time.Time) *metav1.Time {
		if t.IsZero() {
			return nil
		}
		return &metav1.Time{Time: t}
	}
	for _, v := range l.Versions {
		out := packagesv1.VersionLifecycle{Version: v.Name, Phases: []packagesv1.LifecyclePhase{}}
		for _, p := range v.Phases {
			out.Phases = append(out.Phases, packagesv1.LifecyclePhase{Name: p.Name, Starts: moment(p.Start), Ends: moment(p.End)})
		}
		all = append(all, out)
	}
	return all
}
