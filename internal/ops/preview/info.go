package preview

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
)

// Info is a package in each catalog that has it.
type Info struct {
	Package  string     `json:"package"`
	Catalogs []*Package `json:"catalogs"`
}

// About tells of a package in every catalog that has it.
func About(packages []*Package, name string) Info {
	info := Info{Package: name, Catalogs: []*Package{}}
	for _, p := range packages {
		if p.Name == name {
			info.Catalogs = append(info.Catalogs, p)
		}
	}
	return info
}

// Write prints a page for each catalog.
func (i Info) Write(w io.Writer) error {
	var b strings.Builder
	for n, p := range i.Catalogs {
		if n > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s in catalog %s\n", messages.Clean(p.Name), messages.Clean(p.Catalog))
		// The newest version of the default channel, and of all channels where that is another.
		text := p.Newest
		if len(p.Versions) > 0 && p.Versions[0].Version != p.Newest {
			v := p.Versions[0]
			text += fmt.Sprintf(" (%s in channel %s)", v.Version, strings.Join(v.Channels, ", "))
		}
		for _, field := range [][2]string{
			{"name", p.DisplayName},
			{"description", p.Description},
			{"provider", p.Provider},
			{"newest", text},
			{"support", p.support()},
			{"install modes", strings.Join(p.InstallModes, ", ")},
			{"provides", strings.Join(p.Provides, ", ")},
			{"requires", strings.Join(p.Requires, ", ")},
			{"namespace", p.SuggestedNamespace},
			{"deprecated", p.Deprecation},
		} {
			if field[1] != "" {
				fmt.Fprintf(&b, "  %-14s %s\n", field[0]+":", messages.Clean(field[1]))
			}
		}
		rows := [][]string{{"CHANNEL", "NEWEST", "VERSIONS", "NOTES"}}
		for _, c := range p.Channels {
			var notes []string
			if c.Name == p.DefaultChannel {
				notes = append(notes, "default")
			}
			if c.Deprecation != "" {
				notes = append(notes, "deprecated: "+c.Deprecation)
			}
			rows = append(rows, []string{c.Name, cmp.Or(c.Newest, c.Head), strconv.Itoa(c.Versions), strings.Join(notes, "; ")})
		}
		b.WriteString("\n" + messages.Indent(messages.Table(rows...), 2))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// support says how long the newest version of the default channel is supported.
func (p *Package) support() string {
	for _, v := range p.Versions {
		if v.Name == p.Bundle {
			return v.Support.String()
		}
	}
	return ""
}
