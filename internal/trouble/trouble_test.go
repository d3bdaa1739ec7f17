package trouble

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
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
		if a, b := Text(errors.New(two[0])), Text(errors.New(two[1])); a != b {
			t.Errorf("%s: %q and %q", name, a, b)
		}
	}
	for _, kept := range []string{"dial tcp 10.0.0.2:443: connect: connection refused", "digest sha256:" + strings.Repeat("1", 64), "image quay.io/a/b:v1.2.3 not found", "expired after 2020-01-01T00:00:00Z"} {
		if got := Text(errors.New(kept)); got != kept {
			t.Errorf("%q became %q", kept, got)
		}
	}
}

// TestTextsAreShort and valid, wherever they are cut.
func TestTextsAreShort(t *testing.T) {
	for _, unit := range []string{"x", "ä", "€", "😀", "\xff"} {
		text := "a" + strings.Repeat(unit, 1<<20)
		got := Text(errors.New(text))
		if len(got) > MaxText+100 || !utf8.ValidString(got) || !strings.Contains(got, "bytes more)") {
			t.Errorf("%d bytes: %.50q", len(got), got)
		}
	}
	if got := Brief("short\xff"); got != "short?" {
		t.Errorf("%q", got)
	}
}
