// Package safetext bounds texts of catalogs, registries and other authors before a message repeats them: how long they are, and that they
// stay in one line. It knows nothing of catalogs, so that anything may import it: it is the one place that truncates and lists, for public
// packages and for internal/messages alike.
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

// Line returns a text as one line of at most so many bytes, and three more where it is cut.
func Line(text string, most int) string { return Truncate(OneLine(text), most) }

// Fit returns a text of at most so many bytes, the three that mark a cut included. What it has cut already stays as it is.
func Fit(text string, most int) string {
	const mark = "..."
	if len(text) <= most {
		return text
	}
	return Truncate(text, most-len(mark))
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
	return Sample(items[:min(most, len(items))], len(items), separator)
}

// Sample is List for the first of so many items, where only those are known.
func Sample(first []string, all int, separator string) string {
	text, more := strings.Join(first, separator), all-len(first)
	if more <= 0 {
		return text
	}
	and := separator
	if separator == ", " {
		and = " "
	}
	return fmt.Sprintf("%s%sand %d more", text, and, more)
}

// First returns the first items, and one that counts the others by a format such as "and %d more". It leaves the items as they are.
func First(items []string, most int, others string) []string {
	more := len(items) - most
	if more <= 0 {
		return items
	}
	return append(items[:most:most], fmt.Sprintf(others, more))
}
