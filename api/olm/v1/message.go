package v1

import "unicode/utf8"

const (
	// maxMessageLength is the number of bytes that a condition's message may have.
	maxMessageLength = 32768
	// truncationMark ends a message that was cut.
	truncationMark = "\n\n... [message truncated]"
)

// TruncateMessage cuts a message that is too long for a condition, between two characters, and says so at its end.
func TruncateMessage(message string) string {
	if len(message) <= maxMessageLength {
		return message
	}
	cut := maxMessageLength - len(truncationMark)
	for cut > 0 && !utf8.RuneStart(message[cut]) {
		cut--
	}
	return message[:cut] + truncationMark
}
