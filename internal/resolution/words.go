package resolution

import (
	"fmt"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/messages"
)

// These functions write what explanations of both APIs say alike.

// oneLine makes text of unknown authors one line of bounded length.
func oneLine(text string) string { return messages.Line(text, maxTextSize) }

// list names some things.
func list(noun string, names []string) string {
	const shown = 5
	if len(names) != 1 {
		noun += "s"
	}
	if len(names) > shown {
		return noun + " " + safetext.List(names, shown, ", ")
	}
	if last := len(names) - 1; last > 0 {
		return noun + " " + strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return noun + " " + strings.Join(names, "")
}

// oneOf names some things of which one is enough.
func oneOf(noun string, names []string) string {
	const shown = 5
	if more := len(names) - shown; more > 0 {
		return fmt.Sprintf("%s %s or one of %d more", noun, strings.Join(names[:shown], ", "), more)
	}
	if last := len(names) - 1; last > 0 {
		return noun + " " + strings.Join(names[:last], ", ") + " or " + names[last]
	}
	return list(noun, names)
}

// texts joins how things read.
func texts[T any](list []T, word string, text func(T) string) string {
	out := ""
	for i, x := range list {
		if i > 0 {
			out += word
		}
		out += text(x)
	}
	return out
}

func said(message string) string {
	if message == "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", message)
}

// similar suggests the closest of some names.
func similar(wanted string, names []string) string {
	if name := messages.Closest(wanted, names); name != "" {
		return ", among them " + name
	}
	return ""
}

// property names the i-th property of a type, for explanations and for the order of needs.
func property(kind string, i int) string { return fmt.Sprintf("properties, %s #%d", kind, i+1) }

// maxBrief is how much of a value from outside a message repeats, in bytes.
const maxBrief = 100
