package catalogsource

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxText bounds what a status says in one field. Registries and catalogs decide how long a text is, and every watcher gets it.
const maxText = 1024

// passing is what differs between two occurrences of the same trouble. It would make every attempt write the status.
var passing = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\b((?:read|write|dial) (?:tcp|udp)[46]?) \S+->`), "$1 "}, // this end of a connection, with its port
	{regexp.MustCompile(`\b[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b`), "..."},
	{regexp.MustCompile(`(?i)\b((?:request|trace|correlation|session|span)[ _-]?id)\b["']?[:= ]+["']?[^\s"',;)]+`), "$1 ..."},
	{regexp.MustCompile(`\bcurrent time \S+ is\b`), "current time is"}, // of certificates
	{regexp.MustCompile(`(?i)\b(again|retry|retrying|resets?) (in|after) \d[\d.]*(m|µ|n)?[smh]?\w*`), "$1 $2 ..."},
}

// words is the text of an error, the same for the same trouble.
func words(err error) string {
	text := err.Error()
	if len(text) > 4*maxText { // the patterns need not look at more than is told
		text = text[:4*maxText]
	}
	for _, p := range passing {
		text = p.pattern.ReplaceAllString(text, p.instead)
	}
	return brief(text)
}

// brief is a text that is not too long for a status.
func brief(text string) string {
	if len(text) <= maxText {
		return strings.ToValidUTF8(text, "?")
	}
	end := maxText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.ToValidUTF8(text[:end], "?") + fmt.Sprintf("... (and %d bytes more)", len(text)-end)
}
