package console

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// commandLink is a page that does or answers what a text names a command for.
type commandLink struct{ Address, Text string }

// commands are those that the console has a page for, with what they are about and where.
var commands = regexp.MustCompile(`\bfairlead (approve|why-not|why) ('[^'\n]+'|[^\s'"<>;,()]+)(?: (?:-n|--namespace) ('[^'\n]+'|[^\s'"<>;,()]+))?`)

// maxCommandLinks is how many links stand beside a text.
const maxCommandLinks = 3

// commandLinks are the pages for the commands that a text names, each once. The text stays as it is: it is the same one for programs and commands. A command
// without a namespace is about the one that the text is about.
func commandLinks(text, namespace string) (links []commandLink) {
	for _, found := range commands.FindAllStringSubmatch(text, -1) {
		does, about, where := found[1], bare(found[2]), bare(found[3])
		if where == "" {
			where = namespace
		}
		values := url.Values{}
		if where != "" {
			values.Set(namespaceKey, where)
		}
		link := commandLink{address("/approvals", namespaceKey, where), "See what waits, and approve it"}
		if does != "approve" {
			name, version, _ := strings.Cut(about, "@")
			values.Set("kind", does)
			values.Set("name", name)
			link.Text = "Why " + name
			if does == asksWhyNot {
				link.Text = strings.TrimSpace("Why not " + name + " " + version)
			}
			if version != "" {
				values.Set("version", version)
			}
			link.Address = "/why?" + values.Encode()
		}
		if !slices.Contains(links, link) && len(links) < maxCommandLinks {
			links = append(links, link)
		}
	}
	return links
}

// bare is an argument without the quotes that a shell needs, and without the end of the sentence that it stands in.
func bare(argument string) string {
	if inner, quoted := strings.CutPrefix(argument, "'"); quoted {
		return strings.TrimSuffix(inner, "'")
	}
	return strings.TrimRight(argument, ".:!?")
}
