package messages

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"fairlead.dev/fairlead/test/must"
)

func TestTheSameForTheSameTrouble(t *testing.T) {
	for name, two := range map[string][2]string{
		"port":        {"read tcp 10.0.0.1:45678->10.0.0.2:443: connection reset by peer", "read tcp 10.0.0.1:45679->10.0.0.2:443: connection reset by peer"},
		"IPv6":        {"write tcp [fd00::1]:45678->[fd00::2]:443: broken pipe", "write tcp [fd00::1]:5->[fd00::2]:443: broken pipe"},
		"request":     {"denied (request id: abc-1)", "denied (request id: abd-2)"},
		"JSON":        {`{"requestId":"5e1","message":"no"}`, `{"requestId":"77","message":"no"}`},
		"UUID":        {"error 123e4567-e89b-12d3-a456-426614174000", "error 123e4567-e89b-12d3-a456-426614174999"},
		"certificate": {"x509: certificate has expired: current time 2026-11-22T09:00:00Z is after 2020-01-01T00:00:00Z", "x509: certificate has expired: current time 2026-11-22T09:00:09Z is after 2020-01-01T00:00:00Z"},
		"pause":       {"rate limited, try again in 3.2s", "rate limited, try again in 59s"},
	} {
		if a, b := Error(errors.New(two[0])), Error(errors.New(two[1])); a != b {
			t.Errorf("%s: %q and %q", name, a, b)
		}
	}
	for _, kept := range []string{"dial tcp 10.0.0.2:443: connect: connection refused", "digest sha256:" + strings.Repeat("1", 64), "image quay.io/a/b:v1.2.3 not found", "expired after 2020-01-01T00:00:00Z"} {
		must.Equal(t, "what is kept", Error(errors.New(kept)), kept)
	}
}

// TestTextsAreShort and valid, wherever they are cut.
func TestTextsAreShort(t *testing.T) {
	for _, unit := range []string{"x", "ä", "€", "😀", "\xff"} {
		text := "a" + strings.Repeat(unit, 1<<20)
		got := Error(errors.New(text))
		if len(got) > MaxStatus+100 || !utf8.ValidString(got) || !strings.Contains(got, "bytes more)") {
			t.Errorf("%d bytes: %.50q", len(got), got)
		}
	}
	must.Equal(t, "brief", Brief("short\xff"), "short?")
}

// TestTextsForEvents have 1,024 bytes at most, with the remark, and are told in full where they fit.
func TestTextsForEvents(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		whole bool
	}{
		"nothing":            {"", true},
		"short":              {"short", true},
		"as long as can be":  {strings.Repeat("a", 1024), true},
		"one more":           {strings.Repeat("a", 1025), false},
		"long characters":    {strings.Repeat("\u00e4\U0001F600", 20_000), false},
		"a million of bytes": {strings.Repeat("a", 1<<20), false},
	} {
		t.Run(name, func(t *testing.T) {
			got := Event(c.text)
			if len(got) > 1024 || !utf8.ValidString(got) || (got == c.text) != c.whole {
				t.Errorf("%d bytes are told in %d: %.40q", len(c.text), len(got), got)
			}
			if !c.whole && (len(got) < 980 || !strings.HasSuffix(got, " bytes more)")) {
				t.Errorf("%d bytes are left, and end with %q", len(got), got[len(got)-40:])
			}
		})
	}
}
