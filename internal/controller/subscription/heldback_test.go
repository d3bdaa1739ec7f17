package subscription

import (
	"strings"
	"testing"
	"unicode"

	"fairlead.dev/fairlead/internal/resolution"
)

// TestHeldBackIsFitForAStatus has a reason that a catalog wrote: control characters, directions of text and 10 kB of it.
func TestHeldBackIsFitForAStatus(t *testing.T) {
	for name, reason := range map[string]string{
		"control characters": "a.v2.0.0 cannot be used: \x1b[31mred\x1b[0m\r\n\x00 and \u202eright to left\u202c",
		"10 kB":              strings.Repeat("much text ", 1024),
		"10 kB in two bytes": strings.Repeat("ä", 5120),
		"broken text":        "half \xc3",
	} {
		t.Run(name, func(t *testing.T) {
			conditions := heldOf(&group{Group: resolution.Group{Held: []resolution.Held{{Subscription: "a", Wanted: "a.v2.0.0", Reason: reason}}}}, "a", nil).condition()
			if len(conditions) != 1 {
				t.Fatalf("%d conditions", len(conditions))
			}
			text := conditions[0].Message
			if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) {
				t.Errorf("the message has characters that steer terminals: %q", text)
			}
			if len(text) > maxText+len("...") || strings.ToValidUTF8(text, "") != text || text == "" {
				t.Errorf("the message has %d bytes: %q", len(text), text)
			}
		})
	}
}
