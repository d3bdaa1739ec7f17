package plan

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
)

// Write prints the plan for people.
func (p *Plan) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "ClusterExtension %s: %s\n", messages.Clean(p.Extension), p.step())
	section := func(title string, lines []string) {
		if len(lines) == 0 {
			return
		}
		fmt.Fprintf(&b, "\n%s:\n", title)
		for _, text := range lines {
			for line := range strings.Lines(text) {
				fmt.Fprintf(&b, "  %s\n", strings.TrimRight(messages.Clean(strings.TrimSuffix(line, "\n")), " "))
			}
		}
	}
	var changed, definitions []string
	for _, c := range p.Changed {
		changed = append(changed, c.Name+": "+strings.Join(c.Fields, ", "))
	}
	for _, c := range p.CRDs {
		text := c.Name + ": " + c.Verdict
		for _, f := range c.Findings {
			text += "\n  " + f
		}
		if c.Rewrites != "" {
			text += "\n  " + c.Rewrites
		}
		definitions = append(definitions, text)
	}
	section("added", p.Added)
	section("changed", changed)
	section("removed", p.Removed)
	section("CustomResourceDefinitions", definitions)
	if p.Permissions != "" {
		section("permissions that come in addition", []string{p.Permissions})
	}
	section("images that come", p.ImagesAdded)
	section("images that go", p.ImagesRemoved)
	// Who signed what is installed, and what the manager says besides, as of a bundle that it refuses.
	var lines []string
	if p.Installed.Signature != "" {
		lines = append(lines, fmt.Sprintf("bundle %s is %s", p.Installed.Bundle, p.Installed.Signature))
	}
	if p.Signature != "" && !slices.Contains(lines, p.Signature) {
		lines = append(lines, p.Signature)
	}
	section("signatures, as the manager reports them", lines)
	section("notes", p.Notes)
	section("blocked, so nothing would be written", p.Blocked)
	if p.MissingRoles != "" {
		b.WriteString("\nRoles with what the service account lacks are in missingRoles of -o json and -o yaml, as YAML to be applied.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (p *Plan) step() string {
	name := func(v Version) string { return messages.Clean(v.Bundle) }
	switch {
	case p.Wanted.Bundle == "" && p.Installed.Bundle == "":
		return "nothing can be installed"
	case p.Wanted.Bundle == "":
		return "nothing can be decided; " + name(p.Installed) + " stays"
	case p.Installed.Bundle == "":
		return "install " + name(p.Wanted)
	case p.Installed.Bundle != p.Wanted.Bundle:
		return name(p.Installed) + " -> " + name(p.Wanted)
	case p.Changes():
		return name(p.Installed) + " changes"
	}
	return name(p.Installed) + " is up to date, nothing changes"
}
