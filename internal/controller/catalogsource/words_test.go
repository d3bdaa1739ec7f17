package catalogsource

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

func TestWordsAreTheSameForTheSameTrouble(t *testing.T) {
	for name, two := range map[string][2]string{
		"port":        {"read tcp 10.0.0.1:45678->10.0.0.2:443: connection reset by peer", "read tcp 10.0.0.1:45679->10.0.0.2:443: connection reset by peer"},
		"IPv6":        {"write tcp [fd00::1]:45678->[fd00::2]:443: broken pipe", "write tcp [fd00::1]:5->[fd00::2]:443: broken pipe"},
		"request":     {"denied (request id: abc-1)", "denied (request id: abd-2)"},
		"JSON":        {`{"requestId":"5e1","message":"no"}`, `{"requestId":"77","message":"no"}`},
		"UUID":        {"error 123e4567-e89b-12d3-a456-426614174000", "error 123e4567-e89b-12d3-a456-426614174999"},
		"certificate": {"x509: certificate has expired: current time 2026-11-22T09:00:00Z is after 2020-01-01T00:00:00Z", "x509: certificate has expired: current time 2026-11-22T09:00:09Z is after 2020-01-01T00:00:00Z"},
		"pause":       {"rate limited, try again in 3.2s", "rate limited, try again in 59s"},
	} {
		if a, b := words(errors.New(two[0])), words(errors.New(two[1])); a != b {
			t.Errorf("%s: %q and %q", name, a, b)
		}
	}
	for _, kept := range []string{"dial tcp 10.0.0.2:443: connect: connection refused", "digest " + digestOne, "image quay.io/a/b:v1.2.3 not found", "expired after 2020-01-01T00:00:00Z"} {
		if got := words(errors.New(kept)); got != kept {
			t.Errorf("%q became %q", kept, got)
		}
	}
}

// TestALastingFaultIsWrittenOnce, though the server says it in another way each time; and what is written is short, however much it says.
func TestALastingFaultIsWrittenOnce(t *testing.T) {
	w := newWorld(t, source(grpc(time.Minute)))
	n := 0
	fault := func() error {
		n++
		return fmt.Errorf("read tcp 10.0.0.1:%d->10.0.0.2:443: %s", 40000+n, strings.Repeat("ä", 1<<20))
	}
	for range 10 {
		w.registry.err = fault()
		w.clock.Step(longestRetry)
		w.reconcile()
	}
	if w.writes > 1+9 {
		t.Errorf("%d writes", w.writes)
	}
	s := w.source()
	s.Status.LatestImageRegistryPoll = nil
	for _, text := range []string{s.Status.Message, s.Status.Conditions[0].Message} {
		if len(text) > maxText+100 || !utf8.ValidString(text) || !strings.Contains(text, "bytes more)") {
			t.Errorf("%d bytes: %.50q...", len(text), text)
		}
	}
	if e, _ := w.c.catalogs.Get(ref); len(e.Problem) > maxText+100 {
		t.Errorf("Subscriptions are told %d bytes", len(e.Problem))
	}
	messages := map[string]bool{}
	for range 3 {
		w.registry.err = fault()
		w.clock.Step(longestRetry)
		_, s := w.reconcile()
		messages[s.Status.Message] = true
	}
	if len(messages) != 1 {
		t.Errorf("one fault is told in %d ways", len(messages))
	}
}

func TestHugeSpecsAreToldBriefly(t *testing.T) {
	w := newWorld(t, source(v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceType(strings.Repeat("x", 1<<16))}))
	if _, s := w.reconcile(); len(s.Status.Message) > maxText+100 || len(s.Status.Conditions[0].Message) > maxText+100 {
		t.Errorf("the message has %d bytes", len(s.Status.Message))
	}
}
