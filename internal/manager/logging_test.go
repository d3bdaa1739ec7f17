package manager

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// story logs as controllers and libraries do.
func story(log logr.Logger) {
	request := log.WithValues("controller", "subscription", "namespace", "apps", "name", "subscriptions")
	request.WithValues("kind", "Subscription", "name", "app").Info("status changed", "reason", "Ready")
	request.V(1).Info("reconciled")
	slog.New(logr.ToSlogHandler(log)).Info("by slog")
	request.Error(errors.New("refused"), "cannot write")
	klog.InfoS("by klog", "b", 2)
}

// logged are the lines of a log.
func logged(t *testing.T, l logging, story func(logr.Logger)) []string {
	t.Helper()
	var out bytes.Buffer
	log := must.Value(l.start(&out))(t)
	t.Cleanup(func() { must.Value(logging{format: logText}.start(io.Discard))(t) })
	story(log)
	klog.Flush()
	return strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
}

// TestLogHasEachKeyOnce: the object that a line is about hides the request that led to it, in text and in JSON.
func TestLogHasEachKeyOnce(t *testing.T) {
	text := logged(t, logging{format: logText}, story)
	if !strings.Contains(text[0], `msg="status changed" controller=subscription namespace=apps kind=Subscription name=app reason=Ready`) {
		t.Errorf("%q", text)
	}
	if all := strings.Join(text, "\n"); len(text) != 4 || strings.Contains(all, "reconciled") {
		t.Errorf("%d lines: %q", len(text), text)
	}
	for _, line := range logged(t, logging{format: logJSON, verbosity: 1}, story) {
		var fields map[string]any
		must.NoError(t, json.Unmarshal([]byte(line), &fields))
		if fields["msg"] == "" || fields["level"] == "" || fields["time"] == "" || strings.Count(line, `"name":`) > 1 {
			t.Errorf("%s", line)
		}
	}
}

// TestLibrariesAreSilent: what libraries say is written from -v 2 on, and errors always.
func TestLibrariesAreSilent(t *testing.T) {
	library := func(logr.Logger) {
		cache.WaitForNamedCacheSync("story", t.Context().Done(), func() bool { return true }) // says that it waits, and that it waits no more
		utilruntime.HandleErrorWithContext(t.Context(), errors.New("refused"), "cannot read")
	}
	for verbosity, want := range map[int]int{0: 1, 1: 1, 2: 3} {
		lines := logged(t, logging{format: logText, verbosity: verbosity}, library)
		if len(lines) != want || !strings.Contains(lines[len(lines)-1], "level=ERROR") {
			t.Errorf("-v %d: %q", verbosity, lines)
		}
	}
	if _, err := (logging{format: "xml"}).start(io.Discard); err == nil || !strings.Contains(err.Error(), `--log-format "xml": choose text or json`) {
		t.Error(err)
	}
}
