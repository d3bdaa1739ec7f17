package catalogsource

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"fairlead.dev/fairlead/test/must"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/messages"
)

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
		w.Clock.Step(catalogstore.LongestRetry)
		w.reconcile()
	}
	if n := w.Count(reported); n > 1+9 {
		t.Errorf("%d writes", n)
	}
	s := w.source()
	s.Status.LatestImageRegistryPoll = nil
	for _, text := range []string{s.Status.Message, s.Status.Conditions[0].Message} {
		if len(text) > messages.MaxStatus+100 || !utf8.ValidString(text) || !strings.Contains(text, "bytes more)") {
			t.Errorf("%d bytes: %.50q...", len(text), text)
		}
	}
	if e, _ := w.c.catalogs.Get(ref); len(e.Problem) > messages.MaxStatus+100 {
		t.Errorf("Subscriptions are told %d bytes", len(e.Problem))
	}
	texts := map[string]bool{}
	for range 3 {
		w.registry.err = fault()
		w.Clock.Step(catalogstore.LongestRetry)
		_, s := w.reconcile()
		texts[s.Status.Message] = true
	}
	must.Equal(t, "one fault is told", len(texts), 1)
}

func TestHugeSpecsAreToldBriefly(t *testing.T) {
	w := newWorld(t, source(v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceType(strings.Repeat("x", 1<<16))}))
	if _, s := w.reconcile(); len(s.Status.Message) > messages.MaxStatus+100 || len(s.Status.Conditions[0].Message) > messages.MaxStatus+100 {
		t.Errorf("the message has %d bytes", len(s.Status.Message))
	}
}
