package preview

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/version"
)

// Asked is what an install asks the catalogs for.
type Asked struct {
	Package string
	// Channels are those to follow; none is for the default channel.
	Channels []string
	// Version is a range; empty is any version.
	Version string
	// Starting is the name of the version to begin with; empty is the newest.
	Starting string
	// OneCatalog: it has to be one catalog alone that has the package.
	OneCatalog bool
	// OneFirst: one catalog alone may be the first, by its priority, that has what is asked for, as for a ClusterExtension.
	OneFirst bool
}

// Offer is what the catalogs offer of that.
type Offer struct {
	// Packages has one entry for each catalog that has the package. It is empty where that is not known, because a catalog cannot be read.
	Packages []*Package
	// Channel is the default channel; empty where channels were asked for, or where the catalogs name none.
	Channel string
	// Namespace is where the operator suggests to be installed; empty where it suggests none.
	Namespace string
	// Notes are what could not be read.
	Notes []string
}

// Sources are the catalogs that have the package.
func (o Offer) Sources() []string { return catalogsOf(o.Packages) }

// Modes are the install modes of what is installed first, as far as the catalog tells: of the newest version of the default channel of one catalog alone.
func (o Offer) Modes(w Asked) []string {
	if len(o.Packages) != 1 || len(w.Channels) > 0 || w.Starting != "" {
		return nil
	}
	return o.Packages[0].InstallModes
}

// NotOfferedError says that no catalog has what is asked for, and what there is instead.
type NotOfferedError struct{ messages.AskedError }

// Unwrap is what is at fault, and what to do with the commands.
func (e *NotOfferedError) Unwrap() error { return &e.AskedError }

// refuse says why a part of what is asked for is not offered, and what to do with the commands.
func (w Asked) refuse(part messages.Part, command, format string, args ...any) error {
	return &NotOfferedError{messages.AskedError{Lack: messages.NotThere, Part: part, Text: messages.Clean("install package " + w.Package + ": " + fmt.Sprintf(format, args...)), Command: messages.Clean(command)}}
}

// LookUp finds what is asked for. read reads the catalogs: the package that is named, or all of them, from which the nearest name is taken.
func (w Asked) LookUp(ctx context.Context, read func(ctx context.Context, pkg string) (Answer, error)) (Offer, error) {
	a, err := read(ctx, w.Package)
	if err != nil {
		return Offer{}, err
	}
	o := Offer{Notes: a.Notes}
	for _, p := range a.Packages {
		if p.Name == w.Package {
			o.Packages = append(o.Packages, p)
		}
	}
	unread := a.Read+a.off < a.Catalogs // which may have what the others lack
	if len(o.Packages) == 0 {
		if unread || a.Catalogs == 0 {
			return o, nil
		}
		all, err := read(ctx, "")
		if err != nil {
			return o, err
		}
		return o, w.refuse(messages.OfPackage, "fairlead search lists what there is", "no catalog has a package of that name%s", messages.DidYouMean(w.Package, Names(all.Packages)))
	}
	slices.SortStableFunc(o.Packages, func(a, b *Package) int { return cmp.Compare(b.priority, a.priority) })
	if w.OneCatalog && len(o.Packages) > 1 {
		return o, w.refuse(messages.OfCatalog, "choose one with --catalog", "catalogs %s have it", safetext.List(catalogsOf(o.Packages), maxShown, ", "))
	}
	if unread {
		o.settle(w) // what is not there may be in a catalog that cannot be read
	} else if err := w.check(&o); err != nil {
		return o, err
	}
	if first := w.first(&o); w.OneFirst && len(first) > 1 {
		return o, w.refuse(messages.OfCatalog, "choose one with --catalog", "catalogs %s have it, and the same priority", safetext.List(first, maxShown, ", "))
	}
	return o, nil
}

// first are the catalogs of the highest priority among those that have a version which is asked for.
func (w Asked) first(o *Offer) []string {
	follow := w.Channels
	if o.Channel != "" {
		follow = []string{o.Channel}
	}
	within, err := version.ParseConstraint(w.Version)
	wanted := func(v Version) bool {
		return (w.Version == "" || err == nil && within.Contains(v.released().Version)) &&
			(len(follow) == 0 || slices.ContainsFunc(v.Channels, func(c string) bool { return slices.Contains(follow, c) }))
	}
	var names []string
	highest := int32(0)
	for _, p := range o.Packages { // the highest priority first
		if !slices.ContainsFunc(p.Versions, wanted) || len(names) > 0 && p.priority < highest {
			continue
		}
		names, highest = append(names, p.Catalog), p.priority
	}
	return names
}

// maxShown is how many names a message lists.
const maxShown = 10

func catalogsOf(packages []*Package) []string {
	var names []string
	for _, p := range packages {
		names = append(names, p.Catalog)
	}
	return names
}

// check refuses channels and versions that no catalog has, and settles on the default channel.
func (w Asked) check(o *Offer) error {
	channels := o.channels()
	for _, wanted := range w.Channels {
		if !slices.Contains(channels, wanted) {
			return w.refuse(messages.OfChannel, "", "it has no channel %s (its channels are %s)%s", wanted, safetext.List(channels, maxShown, ", "), messages.DidYouMean(wanted, channels))
		}
	}
	if defaults := o.settle(w); len(defaults) > 1 {
		return w.refuse(messages.OfChannel, "choose one with --channel, or a catalog with --catalog", "the default channels of its catalogs differ (%s)", strings.Join(defaults, ", "))
	}
	follow := w.Channels
	if o.Channel != "" {
		follow = []string{o.Channel}
	}
	switch {
	case w.Starting != "":
		return w.version(o, follow, "no version is called "+w.Starting, w.Starting, func(v *Version) (string, bool) { return v.Name, v.Name == w.Starting })
	case w.Version != "":
		within, err := version.ParseConstraint(w.Version)
		if err != nil {
			return &messages.AskedError{Lack: messages.NotFit, Part: messages.OfVersion, Text: fmt.Sprintf("install package %s: version: %v", w.Package, err), Command: "correct --version"}
		}
		return w.version(o, follow, fmt.Sprintf("no version is in the range %q", w.Version), w.Version,
			func(v *Version) (string, bool) { return v.Version, within.Contains(v.released().Version) })
	}
	return nil
}

// channels are those of the package, each once, the default channels first.
func (o *Offer) channels() []string {
	var names []string
	for _, p := range o.Packages {
		for _, c := range p.Channels {
			if !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
			}
		}
	}
	return names
}

// settle chooses the default channel, unless channels are asked for, and the namespace. It returns the default channels of the catalogs that come
// first: where they differ, none is chosen.
func (o *Offer) settle(w Asked) (defaults []string) {
	first := o.Packages[0]
	o.Namespace = first.SuggestedNamespace
	if len(w.Channels) > 0 {
		return nil
	}
	for _, p := range o.Packages {
		served := slices.ContainsFunc(p.Channels, func(c Channel) bool { return c.Name == p.DefaultChannel })
		if p.priority == first.priority && served && !slices.Contains(defaults, p.DefaultChannel) {
			defaults = append(defaults, p.DefaultChannel)
		}
	}
	if len(defaults) == 1 {
		o.Channel = defaults[0]
	}
	return defaults
}

// version refuses a version that none of the followed channels has. is reports what a version is called, and whether it is the one.
func (w Asked) version(o *Offer, follow []string, missing, wanted string, is func(*Version) (string, bool)) error {
	var names, elsewhere []string
	newest := ""
	for _, p := range o.Packages {
		for i := range p.Versions {
			v := &p.Versions[i]
			name, matches := is(v)
			names = append(names, name)
			followed := len(follow) == 0 || slices.ContainsFunc(v.Channels, func(c string) bool { return slices.Contains(follow, c) })
			switch {
			case matches && followed:
				return nil
			case matches:
				elsewhere = append(elsewhere, v.Channels...)
			case followed && newest == "":
				newest = name
			}
		}
	}
	if len(elsewhere) > 0 {
		followed := strings.Join(follow, ", ")
		if o.Channel != "" {
			followed += " (the default)"
		}
		return w.refuse(messages.OfChannel, "add --channel "+elsewhere[0], "%s in channel %s; channel %s has one", missing, followed, elsewhere[0])
	}
	if newest != "" {
		missing += " (the newest is " + newest + ")"
	}
	return w.refuse(messages.OfVersion, fmt.Sprintf("fairlead versions %s lists them", w.Package), "%s%s", missing, messages.DidYouMean(wanted, names))
}
