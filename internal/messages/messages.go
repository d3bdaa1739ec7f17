package messages

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"fairlead.dev/fairlead/catalog/safetext"
)

// MaxStatus bounds what a status says in one field, in bytes, but for a remark on how much is left out. Registries and catalogs decide how long
// a text is, and every watcher gets it.
const MaxStatus = 1024

// volatile lists text that differs between two occurrences of the same error. It would make every attempt write the status.
var volatile = []struct {
	pattern *regexp.Regexp
	instead string
	// answers is true of what has a meaning in errors of other origin than the answer of a registry.
	answers bool
}{
	{regexp.MustCompile(`\b((?:read|write|dial) (?:tcp|udp)[46]?) \S+->`), "$1 ", false}, // this end of a connection, with its port
	{regexp.MustCompile(`(https?://[^\s"?]+)\?[^\s"]*`), "$1", true},                     // signed URLs
	{regexp.MustCompile(`\b[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b`), "...", false},
	{regexp.MustCompile(`(?i)\b(request|trace|correlation|host|ray|session|span)[ _-]?id\b["']?[:= ]+["']?[^\s"',;)]+`), "$1 id ...", false},
	{regexp.MustCompile(`\bcurrent time \S+ is\b`), "current time is", false}, // of certificates
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?`), "...", true},
	{regexp.MustCompile(`\b\d{4}/\d\d/\d\d \d\d:\d\d:\d\d`), "...", true},
	{regexp.MustCompile(`\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [A-Z]{3}`), "...", true},
	{regexp.MustCompile(`(?i)\b(trace|span|request|reference)( |: ?)#?[0-9a-f.]{16,}`), "$1$2...", true},
	{regexp.MustCompile(`\b1\d{9}(\d{3})?\b`), "...", true}, // seconds or milliseconds since 1970
	{regexp.MustCompile(`(?i)\b(again|retry|retrying|resets?) (in|after) \d[\d.]*( ([mµn]?s|m|h|(milli)?seconds?|minutes?|hours?)\b|([\wµ]|\.\d)*)`), "$1 $2 ...", false},
	{regexp.MustCompile(`(?i)\bretry-after: ?[^\s,;]+`), "retry-after: ...", true},
	{regexp.MustCompile(`\(heuristic tuning data: [^)]*\): `), "", true},
	{regexp.MustCompile(`after reconnecting at offset \d+`), "after reconnecting", true},
	{regexp.MustCompile(`Content-Range \d+-\d+/\d+`), "Content-Range", true},
}

// settled returns a text without what is volatile in it. It reads no more than four times of what is reported.
func settled(text string, reported int, answer bool) string {
	if len(text) > 4*reported {
		text = text[:4*reported]
	}
	for _, p := range volatile {
		if answer || !p.answers {
			text = p.pattern.ReplaceAllString(text, p.instead)
		}
	}
	return text
}

// Error returns the text of an error, the same for the same error.
func Error(err error) string { return Brief(settled(err.Error(), MaxStatus, false)) }

// Answer returns what a registry answered, as one line of at most so many bytes, and three more where it is cut: the same for the same answer.
// Times and numbers in it count for nothing.
func Answer(text string, most int) string {
	text = strings.Join(strings.Fields(safetext.OneLine(text)), " ")
	return safetext.Truncate(strings.ToValidUTF8(settled(text, most, true), ""), most)
}

// Line returns a text of unknown authors as one line of at most so many bytes, and three more where it is cut.
func Line(text string, most int) string { return safetext.Line(text, most) }

// Brief is a text that is not too long for a status.
func Brief(text string) string { return Bound(text, MaxStatus) }

// Bound returns a text of at most so many bytes, but for a remark on how much is left out.
func Bound(text string, most int) string { return cut(text, most, most) }

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
