package schedule

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/catalog/safetext"
)

const (
	// WindowKey is the annotation that says when upgrades may begin: on OLMConfig cluster for all, on a Namespace, on a Subscription or on a
	// ClusterExtension.
	WindowKey = "operators.fairlead.dev/upgrade-window"
	// NowKey is the annotation of a Subscription or ClusterExtension with the bundle, or the version, that may begin at once.
	NowKey = "operators.fairlead.dev/upgrade-now"
	// RingLabel is the label of OLMConfig cluster with the ring of the cluster.
	RingLabel = "operators.fairlead.dev/upgrade-ring"
)

// Cluster is the object with the rules for all upgrades, and with the ring of the cluster.
const Cluster = "OLMConfig cluster"

// Layer is an object that may have the annotation WindowKey.
type Layer struct {
	// Object is its kind and name, for people.
	Object string
	// Annotations are those that it has.
	Annotations map[string]string
}

// Rules say when an upgrade may begin. The zero value allows it at all times.
type Rules struct {
	gates []gate
	// sources are the annotations that the gates come from, for people.
	sources []string
	// endless are the reasons that no time ends.
	endless []string
	// zone is that of the window, for people; nil where there is none.
	zone *time.Location
}

// Read returns the rules of objects, of which each is more specific than the one before. Windows and rings of the most specific one that has any
// count; freezes add up. What cannot be read holds everything. ring is that of the cluster, or empty.
func Read(ring string, layers ...Layer) Rules {
	var r Rules
	var week, rings *text
	var weekOf, ringsOf string
	for _, l := range layers {
		value, is := l.Annotations[WindowKey]
		if !is {
			continue
		}
		where := "annotation " + WindowKey + " of " + l.Object
		t, err := parse(value)
		if err != nil {
			r.endless = append(r.endless, fmt.Sprintf("%s cannot be read: %v; until it is corrected or removed nothing is upgraded", where, err))
			continue
		}
		source := fmt.Sprintf("%s (%s)", where, safetext.Line(value, maxSource))
		for _, f := range t.freezes {
			r.add(source, f)
		}
		if t.always || t.never || len(t.windows) > 0 {
			week, weekOf = t, source
		}
		if len(t.rings) > 0 {
			rings, ringsOf = t, source
		}
	}
	switch {
	case week == nil || week.always:
	case week.never:
		r.endless = append(r.endless, weekOf+" allows no upgrade")
	default:
		r.add(weekOf, windows(week.windows))
		r.zone = week.windows[0].zone
	}
	if rings != nil {
		r.addRing(ringsOf, rings.rings, ring)
	}
	return r
}

// maxSource bounds, in bytes, what a message repeats of an annotation.
const maxSource = 200

func (r *Rules) add(source string, g gate) {
	r.gates = append(r.gates, g)
	if !slices.Contains(r.sources, source) {
		r.sources = append(r.sources, source)
	}
}

// addRing holds upgrades until the ring of the cluster may move. A cluster whose ring is not known waits: an upgrade that is meant for others
// first must not begin here by mistake.
func (r *Rules) addRing(source string, rings []ring, name string) {
	if name == "" {
		r.endless = append(r.endless, fmt.Sprintf("%s lists rings, and this cluster has none: label %s with %s", source, Cluster, RingLabel))
		return
	}
	for _, one := range rings {
		if one.name == name {
			r.add(source, one)
			return
		}
	}
	names := make([]string, len(rings))
	for i, one := range rings {
		names[i] = one.name
	}
	r.endless = append(r.endless, fmt.Sprintf("%s lists the rings %s, and this cluster is in ring %s: add it, or correct label %s of %s", source,
		strings.Join(names, ", "), safetext.Line(name, maxName), RingLabel, Cluster))
}

// maxName bounds, in bytes, what a message repeats of a name.
const maxName = 100

// Problems are the reasons to hold all upgrades that no time ends, such as an annotation that cannot be read.
func (r Rules) Problems() []string { return r.endless }
