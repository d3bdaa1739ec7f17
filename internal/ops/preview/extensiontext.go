package preview

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Write prints the decision for people.
func (r *ExtensionResolution) Write(w io.Writer) error {
	var b page
	switch {
	case r.Conflict != nil:
		b.printf("extension %s: no solution\n%s", r.Extension, indented(r.Conflict.Error()))
	case len(r.Install) == 0:
		b.printf("extension %s: %s stays\n", r.Extension, r.installed)
	default:
		b.printf("extension %s: %s\n\n", r.Extension, r.Change)
		i := r.Install[0]
		b.WriteString(table([][]string{{"BUNDLE", "VERSION", "CHANNEL", "CATALOG", "REPLACES"}, {i.Name, i.Version, strings.Join(i.Channels, ","), i.Catalog, i.Replaces}}))
	}
	for _, h := range r.Held {
		what := fmt.Sprintf("%s cannot be had, but %s", h.Wanted, h.Instead)
		if h.Upgrades > 0 {
			what = fmt.Sprintf("%s is next, and %s comes after it", h.Instead, h.Wanted)
		}
		b.printf("\n%s:\n%s", what, indented(tidy(h.Reason)))
		if h.Advice != "" {
			b.put(indented(tidy(h.Advice)))
		}
	}
	for _, note := range append(r.deprecations(), r.Notes...) {
		b.WriteString("\nnote: " + tidy(note) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// deprecations is what the catalog says of what is followed and had.
func (r *ExtensionResolution) deprecations() []string {
	d := r.Deprecated
	if d == nil {
		return nil
	}
	var all []string
	for what, message := range map[string]string{"package": d.Package, "installed bundle": d.Installed, "chosen bundle": d.Chosen} {
		if message != "" {
			all = append(all, what+" is deprecated: "+message)
		}
	}
	for name, message := range d.Channels {
		all = append(all, "channel "+name+" is deprecated: "+message)
	}
	slices.Sort(all)
	return all
}
