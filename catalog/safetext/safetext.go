// Package safetext bounds texts of catalogs, registries and other authors before a message repeats them: how long they are, and that they
// stay in one line. It knows nothing of catalogs, so that anything may import it.
package safetext

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Truncate returns a text of at most so many bytes, and three more where it is cut. It cuts no character.
func Truncate(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// OneLine replaces what would begin another line, or steer a terminal, by spaces.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
}

// Quote quotes a name for a message, of a long one the beginning.
func Quote(name string) string { return strconv.Quote(Truncate(name, 100)) }

// QuoteList quotes the first twenty names, and counts the others.
func QuoteList(names []string) string {
	const most = 20
	quoted := make([]string, len(names))
	for i, name := range names[:min(most, len(names))] {
		quoted[i] = Quote(name)
	}
	return List(quoted, most, ", ")
}

// List joins the first items, and counts the others: "a, b and 3 more", or with another separator than a comma "a; b; and 3 more".
func List(items []string, most int, separator string) string {
	more := len(items) - most
	if more <= 0 {
		return strings.Join(items, separator)
	}
	and := separator
	if separator == ", " {
		and = " "
	}
	return fmt.Sprintf("%s%sand %d more", strings.Join(items[:most], separator), and, more)
}
