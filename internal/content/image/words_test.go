package image

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSteadyWords(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"nothing to change":    {"dial tcp 10.0.0.1:443: connect: connection refused", "dial tcp 10.0.0.1:443: connect: connection refused"},
		"own port":             {"read tcp 10.0.0.7:51234->10.0.0.1:443: read: connection reset by peer", "read tcp 10.0.0.1:443: read: connection reset by peer"},
		"own port, IPv6":       {"write tcp [fd00::7]:51234->[fd00::1]:443: write: broken pipe", "write tcp [fd00::1]:443: write: broken pipe"},
		"name server":          {"lookup quay.io on 10.0.0.10:53: read udp 10.0.0.7:40000->10.0.0.10:53: i/o timeout", "lookup quay.io on 10.0.0.10:53: read udp 10.0.0.10:53: i/o timeout"},
		"signed URL":           {`Get "https://cdn.example/blob?X-Signature=abc&Expires=17": EOF`, `Get "https://cdn.example/blob": EOF`},
		"request id":           {"denied (Request-Id: 5f3Ab/9)", "denied (Request id ...)"},
		"uuid":                 {"trace 123e4567-e89b-12d3-a456-426614174000 failed", "trace ... failed"},
		"time":                 {"try after 2026-08-01T12:30:45.123Z please", "try after ... please"},
		"request id, one word": {`{"RequestID":"7Q2K"}`, `{"Request id ..."}`},
		"host id":              {"Access Denied (HostId: k3J+/9=)", "Access Denied (Host id ...)"},
		"ray":                  {"error 1015 Ray ID: 7d8f2a91", "error 1015 Ray id ..."},
		"reference":            {"Access Denied. Reference #18.2d3e1602.1700000000.1a2b3c", "Access Denied. Reference ..."},
		"trace":                {"trace 4bf92f3577b34da6a3ce929d0e0e4736 failed", "trace ... failed"},
		"pause":                {"rate exceeded, try again in 12.5s", "rate exceeded, try again in ..."},
		"pause in words":       {"retry in 30 seconds or so", "retry in ... or so"},
		"date of HTTP":         {"since Sun, 22 Nov 2026 09:22:01 GMT it is down", "since ... it is down"},
		"date with slashes":    {"2026/11/22 09:22:01 upstream is down", "... upstream is down"},
		"seconds since 1970":   {"limit resets at 1700000123", "limit resets at ..."},
		"retry after":          {"toomanyrequests: retry-after: 251.2ms, allowed: 44000/minute", "toomanyrequests: retry-after: ..., allowed: 44000/minute"},
		"lines and controls":   {"one\n\ttwo\x1b[31m three\x00", "one two [31m three"},
		"a digest is content":  {"manifest sha256:0123456789abcdef0123456789abcdef", "manifest sha256:0123456789abcdef0123456789abcdef"},
		"too much":             {strings.Repeat("é", 1000), strings.Repeat("é", maxWords/2) + "..."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := steady(tt.in); got != tt.want {
				t.Errorf("steady(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func FuzzSteady(f *testing.F) {
	f.Add("read tcp 10.0.0.7:51234->10.0.0.1:443: reset")
	f.Add("https://a?b Request-Id: c\x00\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := steady(s)
		if utf8.RuneCountInString(got) > maxWords+3 || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\x00\x1b") {
			t.Errorf("steady(%q) = %q", s, got)
		}
	})
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	err := complete(fmt.Errorf("wrapped: %w", problem(NotFound, "the registry says %s", "NO")), "pull", "quay.io/a:v1")
	want := "pull image quay.io/a:v1: NotFound: the registry says NO (" + advice[NotFound] + ")"
	if err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

// TestEveryKindHasAdvice keeps errors actionable.
func TestEveryKindHasAdvice(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{NotFound, Unauthorized, RateLimited, Unavailable, Untrusted, DigestMismatch, NoPlatform, LimitExceeded, InvalidReference, InvalidImage} {
		if advice[kind] == "" {
			t.Errorf("no advice for %s", kind)
		}
		if got, want := (&Error{Kind: kind}).Temporary(), kind == RateLimited || kind == Unavailable; got != want {
			t.Errorf("%s: temporary %v, want %v", kind, got, want)
		}
	}
}

// TestOneTroubleOneText: the servers of a registry have many addresses, and each attempt may meet another one.
func TestOneTroubleOneText(t *testing.T) {
	t.Parallel()
	at := func(host, address string) string {
		return words(&url.Error{Op: "Get", URL: "https://" + host + "/v2/", Err: fmt.Errorf("dial tcp %s: connect: connection refused", address)})
	}
	if a, b := at("quay.io", "192.0.2.1:443"), at("quay.io", "[2001:db8::1]:443"); a != b || a != "quay.io: dial tcp: connect: connection refused" {
		t.Errorf("one trouble has the texts %q and %q", a, b)
	}
	if a := at("192.0.2.1", "192.0.2.1:443"); !strings.Contains(a, "192.0.2.1") {
		t.Errorf("%q does not say which host", a)
	}
}
