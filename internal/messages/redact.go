package messages

import "regexp"

// Redacted stands for what is left out.
const Redacted = "(redacted)"

// credentials match what gives access, with what comes before it in the first group.
var credentials = []*regexp.Regexp{
	regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/@\s"']+:[^/@\s"']+@`),
	regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9+/._~-]{8,}=*`),
	regexp.MustCompile(`(?i)(["']?\b(?:password|passwd|token|secret|api[_-]?key|access[_-]?key|private[_-]?key)["']?\s*[:=]\s*["']?)[^\s"',;&]{4,}`),
	regexp.MustCompile(`(-----BEGIN [A-Z ]*PRIVATE KEY-----)[^-]*`),
}

// Redact takes credentials out of a text.
func Redact(text string) string {
	for _, c := range credentials {
		text = c.ReplaceAllString(text, "${1}"+Redacted)
	}
	return text
}
