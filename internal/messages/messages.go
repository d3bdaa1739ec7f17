package messages

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// MaxStatus bounds what a status says in one field, in bytes, but for a remark on how much is left out. Registries and catalogs decide how long
// a text is, and every watcher gets it.
const MaxStatus = 1024

// volatile is what differs between two occurrences of the same trouble. It would make every attempt write the status.
var volatile = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\b((?:read|write|dial) (?:tcp|udp)[46]?) \S+->`), "$1 "}, // this end of a connection, with its port
	{regexp.MustCompile(`\b[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b`), "..."},
	{regexp.MustCompile(`(?i)\b((?:request|trace|correlation|session|span)[ _-]?id)\b["']?[:= ]+["']?[^\s"',;)]+`), "$1 ..."},
	{regexp.MustCompile(`\bcurrent time \S+ is\b`), "current time is"}, // of certificates
	{regexp.MustCompile(`(?i)\b(again|retry|retrying|resets?) (in|after) \d[\d.]*(m|µ|n)?[smh]?\w*`), "$1 $2 ..."},
}

// Error is the text of an error, the same for the same trouble.
func Error(err error) string {
	text := err.Error()
	if len(text) > 4*MaxStatus { // the patterns need not look at more than is told
		text = text[:4*MaxStatus]
	}
	for _, p := range volatile {
		text = p.pattern.ReplaceAllString(text, p.instead)
	}
	return Brief(text)
}

// Brief is a text that is not too long for a status.
func Brief(text string) string { return cut(text, MaxStatus, MaxStatus) }

const (
	// maxEvent is how long the message of an Event can be, in bytes.
	maxEvent = 1024
	// remark is room for saying how much is left out.
	remark = len("... (and 1234567890 bytes more)")
)

// Event is a text that is not too long for the message of an Event. All of it has to be told elsewhere.
func Event(text string) string { return cut(text, maxEvent, maxEvent-remark) }

// cut is a text of at most some bytes. Of a longer one it is the beginning, which ends with a whole character, and how much is left out.
func cut(text string, most, end int) string {
	if len(text) <= most {
		return strings.ToValidUTF8(text, "?")
	}
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.ToValidUTF8(text[:end], "?") + fmt.Sprintf("... (and %d bytes more)", len(text)-end)
}
