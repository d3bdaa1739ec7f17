package preview

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"
)

// Resolution is what would be installed, or why not.
type Resolution struct {
	Namespace string `json:"namespace"`
	resolution.Report
	// Notes are what the namespace says and no one understands.
	Notes []string `json:"notes,omitempty"`
	// LeftAlone are Subscriptions that nothing is decided for.
	LeftAlone []LeftAlone `json:"leftAlone,omitempty"`
	// Misfits are operators to install that the OperatorGroup does not fit.
	Misfits []Misfit `json:"misfits,omitempty"`
	// Extensions are what the ClusterExtensions resolve to; Install, Conflict, More and Held tell of them too.
	Extensions []*ExtensionResolution `json:"extensions,omitempty"`
	// Catalogs are those in view of the namespace.
	Catalogs []CatalogState `json:"catalogs"`

	groups   []resolution.Group
	heldHere []resolution.Held // of Subscriptions; what keeps a ClusterExtension is printed with it
}

// LeftAlone is a Subscription that nothing is decided for.
type LeftAlone struct {
	Subscription string `json:"subscription"`
	Reason       string `json:"reason"`
}

// CatalogState is a catalog as it was decided on.
type CatalogState struct {
	Name     string `json:"name"` // namespace/name
	Priority int    `json:"priority,omitempty"`
	Digest   string `json:"digest,omitempty"`
	Problem  string `json:"problem,omitempty"`
}

// Resolution is the decision.
func (p *Preview) Resolution() Resolution {
	r := Resolution{Namespace: p.observed.Name, Report: p.result.Report(), LeftAlone: p.leftAlone(), Misfits: p.fit.misfits(p.result.Groups), Catalogs: []CatalogState{}, Extensions: p.extensions, groups: p.result.Groups}
	r.Notes = p.observed.Misread()
	// The Subscriptions of which the decision does not say why they stay.
	var all []resolution.Held
	for _, s := range p.result.Standings(time.Now()) {
		if s.HeldBy != "" {
			continue
		}
		if reason := p.waits(&s); reason != "" {
			all = append(all, resolution.Held{Asker: "subscription " + s.Subscription, Subscription: s.Subscription, Instead: s.Installed, Reason: reason})
		}
	}
	r.Held = append(r.Held, all...)
	r.heldHere = r.Held
	for _, e := range p.extensions {
		r.Install = append(r.Install, e.Install...)
		r.Held = append(r.Held, e.held()...)
		switch c := e.conflict(); {
		case c == nil:
		case r.Conflict == nil:
			r.Conflict = c
		default:
			r.More = append(r.More, *c)
		}
	}
	for _, s := range p.observed.Sources {
		c := CatalogState{Name: s.Ref().String(), Priority: s.Object.Spec.Priority, Problem: s.Served.Problem}
		if s.Healthy() {
			c.Digest = s.Served.Index.Digest()
		}
		r.Catalogs = append(r.Catalogs, c)
	}
	return r
}

func (p *Preview) leftAlone() []LeftAlone {
	var all []LeftAlone
	for _, name := range slices.Sorted(maps.Keys(p.idle)) {
		all = append(all, LeftAlone{name, p.idle[name]})
	}
	return all
}

// Solved tells whether there is an answer for every Subscription, and nothing keeps it from being carried out.
func (r *Resolution) Solved() bool { return r.Conflict == nil && len(r.Misfits) == 0 }

// Write prints the decision for people.
func (r *Resolution) Write(w io.Writer) error {
	var b page
	if len(r.groups) > 0 || len(r.LeftAlone) > 0 || len(r.Extensions) == 0 {
		r.writeNamespace(&b)
	}
	for i, e := range r.Extensions {
		if i > 0 || b.Len() > 0 {
			b.WriteString("\n")
		}
		if err := e.Write(&b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeNamespace prints what is decided for the Subscriptions.
func (r *Resolution) writeNamespace(b *page) {
	installs, failed := 0, 0 // the first so many entries of Install are those of the namespace
	for _, g := range r.groups {
		installs += len(g.Choices)
		if g.Err != nil {
			failed += len(g.Subscriptions)
		}
	}
	text := "nothing to install"
	if installs > 0 {
		text = fmt.Sprintf("%d to install", installs)
	}
	switch {
	case len(r.groups) == 0 && len(r.LeftAlone) == 0:
		text = "no Subscription, nothing to decide"
	case failed > 0:
		text += fmt.Sprintf(", no solution for %d of the Subscriptions", failed)
	}
	b.printf("namespace %s: %s\n", r.Namespace, text)
	for _, note := range r.Notes {
		b.printf("note: %s\n", note)
	}
	if installs > 0 {
		rows := [][]string{{"OPERATOR", "VERSION", "CHANNEL", "CATALOG", "FOR", "REPLACES"}}
		for _, i := range r.Install[:installs] {
			rows = append(rows, []string{i.Name, i.Version, i.Channel, i.Catalog, i.For, i.Replaces})
		}
		b.WriteString("\n" + messages.Table(rows...))
	}
	for _, c := range r.Catalogs {
		if c.Problem != "" {
			b.printf("\ncatalog %s cannot be read:\n%s", c.Name, indented(c.Problem))
		}
	}
	writeMisfits(b, r.Misfits)
	writeLeftAlone(b, r.LeftAlone)
	writeHeld(b, r.heldHere)
	for _, g := range r.groups {
		if g.Err != nil {
			b.printf("\nno solution for %s:\n%s", strings.Join(g.Subscriptions, ", "), indented(g.Err.Error()))
		}
	}
}

func writeLeftAlone(b *page, all []LeftAlone) {
	for _, l := range all {
		b.printf("\nsubscription %s is left alone:\n%s", l.Subscription, indented(messages.Clean(l.Reason)))
	}
}

// writeHeld prints what is wanted and cannot be had, and what to do about it.
func writeHeld(b *page, held []resolution.Held) {
	for _, h := range held {
		name := h.Wanted
		if name == "" {
			name = "anything newer"
		}
		b.printf("\n%s does not get %s", h.Asker, name)
		if h.Instead != "" {
			b.printf(", but %s", h.Instead)
		}
		b.WriteString(":\n")
		if h.Conflict != nil && len(h.Conflict.Chain) > 0 {
			b.put(indented(h.Conflict.Error()))
			continue
		}
		b.put(indented(messages.Clean(h.Reason)))
		if h.Conflict != nil { // of a ClusterExtension, whose reason is all there is
			b.put(indented(messages.Clean(h.Conflict.Advice)))
		}
	}
}

// Conflicts are why there is no answer for some of what is asked for.
func (r *Resolution) Conflicts() (all []*resolution.Conflict) {
	if r.Conflict == nil {
		return nil
	}
	all = append(all, r.Conflict)
	for i := range r.More {
		all = append(all, &r.More[i])
	}
	return all
}
