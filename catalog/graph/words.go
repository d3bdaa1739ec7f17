package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// clip shortens a text that is to be quoted in a message.
func clip(s string) string {
	const most = 100
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

func quote(s string) string { return strconv.Quote(clip(s)) }

// list joins names for a message, the first ones if there are many.
func list(names []string) string {
	const most = 12
	quoted := make([]string, 0, most)
	for i, name := range names {
		if i == most {
			return fmt.Sprintf("%s and %d more", strings.Join(quoted, ", "), len(names)-most)
		}
		quoted = append(quoted, quote(name))
	}
	return strings.Join(quoted, ", ")
}

func names(entries []*entry) []string {
	all := make([]string, len(entries))
	for i, e := range entries {
		all[i] = e.node.name
	}
	return all
}

// sorted are the names of versions, the newest first.
func sorted(nodes []*node) []string {
	nodes = slices.Clone(nodes)
	slices.SortFunc(nodes, func(a, b *node) int { return b.compare(a) })
	all := make([]string, len(nodes))
	for i, v := range nodes {
		all[i] = v.name
	}
	return all
}
