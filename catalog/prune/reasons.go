package prune

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// reasons say why something is kept, each once, in the order they came up. Of
// many only the first are remembered.
type reasons []string

const mostReasons = 8

func (r *reasons) add(reason string) {
	if len(*r) < mostReasons && !slices.Contains(*r, reason) {
		*r = append(*r, reason)
	}
}

// quote quotes a name for a message, shortened if it is very long.
func quote(s string) string { return strconv.Quote(shortened(s, 100)) }

// clip shortens what a need is in words, and keeps it in one line.
func clip(s string) string { return strings.Map(visible, shortened(s, 400)) }

func shortened(s string, most int) string {
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

// show is a name as it may stand in a report: as it is, unless it holds what
// could not be seen, or would steer a terminal.
func show(name string) string {
	if strings.Map(visible, name) != name {
		return strconv.Quote(name)
	}
	return name
}

func visible(r rune) rune {
	if !unicode.IsPrint(r) {
		return -1
	}
	return r
}

func quoted(names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = quote(name)
	}
	return all
}
