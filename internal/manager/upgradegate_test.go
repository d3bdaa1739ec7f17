package manager

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"fairlead.dev/fairlead/internal/schedule"
	"fairlead.dev/fairlead/test/must"
)

var asked = schedule.Upgrade{Object: "Subscription a", Namespace: "ns", Bundle: "a.v1.1.0", Version: "1.1.0"}

// TestUpgradeGate: 200 allows, 403 and 409 refuse with their text, and anything else holds, too.
func TestUpgradeGate(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		held   string // empty for an upgrade that may begin
	}{
		"allowed":         {answer: func(w http.ResponseWriter, _ *http.Request) {}},
		"held":            {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "ring 2 is next", http.StatusConflict) }, "answers 409 Conflict: ring 2 is next"},
		"forbidden":       {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, "answers 403 Forbidden: no reason is given"},
		"broken":          {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "oops", http.StatusInternalServerError) }, "answers 500 Internal Server Error, which is neither 200, 403 nor 409: oops"},
		"another success": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, "answers 204 No Content, which is neither"},
		"a redirect":      {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/allowed", http.StatusFound) }, "answers 302 Found, which is neither"},
		"a hostile text": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "no\x1b[31m\n"+strings.Repeat("x", 1<<20), http.StatusConflict)
		}, "answers 409 Conflict: no"},
		"the line is cut": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "gave no answer, and is asked again within a minute"},
		"knows what is asked": {func(w http.ResponseWriter, r *http.Request) {
			if q := r.URL.Query(); r.Method != http.MethodGet || q.Get("kind") != "Subscription" || q.Get("namespace") != "ns" || q.Get("name") != "a" || q.Get("bundle") != "a.v1.1.0" ||
				q.Get("version") != "1.1.0" || q.Get("cluster") != "prod 7" {
				http.Error(w, r.URL.String(), http.StatusConflict)
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.answer)
			defer server.Close()
			clock := clocktesting.NewFakeClock(time.Unix(1_700_000_000, 0))
			g := must.Value(NewUpgradeGate(server.URL+"/may?cluster=prod+7", "", nil, clock))(t)
			held := g.Ask(t.Context(), asked)
			if c.held == "" {
				must.Equal(t, "held", held, nil)
				return
			}
			must.Equal(t, "until", held.Until, clock.Now().Add(gateInterval))
			must.Contain(t, "message", held.Message, "upgrade held by the upgrade gate: a.v1.1.0 waits: "+server.URL+"/may ", c.held)
			if len(held.Message) > 1000 || strings.ContainsAny(held.Message, "\n\x1b") {
				t.Errorf("the message is not fit for a status: %q", held.Message)
			}
		})
	}
}

// TestTheUpgradeGateIsAskedOnceAnInterval, whatever it answers, and about nothing while it is down. What a person lets through is not asked about.
func TestTheUpgradeGateIsAskedOnceAnInterval(t *testing.T) {
	var requests atomic.Int32
	var answer atomic.Int32
	answer.Store(http.StatusConflict)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		if answer.Load() == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(int(answer.Load()))
	}))
	defer server.Close()
	clock := clocktesting.NewFakeClock(time.Unix(1_700_000_000, 0))
	g := must.Value(NewUpgradeGate(server.URL, "", nil, clock))(t)
	other := asked
	other.Bundle = "a.v1.2.0"
	first := g.Ask(t.Context(), asked)
	must.Equal(t, "the answer within the interval", *g.Ask(t.Context(), asked), *first)
	must.Equal(t, "requests", requests.Load(), 1)
	answer.Store(http.StatusOK)
	must.Equal(t, "another upgrade", g.Ask(t.Context(), other), nil)
	must.Equal(t, "requests", requests.Load(), 2)
	clock.Step(gateInterval)
	must.Equal(t, "after the interval", g.Ask(t.Context(), asked), nil)
	must.Equal(t, "requests", requests.Load(), 3)
	answer.Store(0)
	clock.Step(gateInterval)
	must.Contain(t, "while it is down", g.Ask(t.Context(), asked).Message, "gave no answer")
	sent := requests.Load() // the client repeats what a closed connection has lost
	must.Contain(t, "of another upgrade", g.Ask(t.Context(), other).Message, "a.v1.2.0 waits: ", "gave no answer")
	must.Equal(t, "requests while it is down", requests.Load(), sent)
	other.Annotations = map[string]string{schedule.NowKey: "a.v1.2.0"}
	must.Equal(t, "let through by a person", g.Ask(t.Context(), other), nil)
}

// TestUpgradeGateOverTLS: its certificate is verified.
func TestUpgradeGateOverTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	clock := clocktesting.NewFakeClock(time.Unix(1_700_000_000, 0))
	g := must.Value(NewUpgradeGate(server.URL, "", nil, clock))(t)
	must.Contain(t, "message", g.Ask(t.Context(), asked).Message, "certificate")
	ca := filepath.Join(t.TempDir(), "ca.pem")
	must.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	g = must.Value(NewUpgradeGate(server.URL, ca, nil, clock))(t)
	must.Equal(t, "with its CA bundle", g.Ask(t.Context(), asked), nil)
}

func TestUpgradeGateFlag(t *testing.T) {
	file := filepath.Join(t.TempDir(), "none.pem")
	must.NoError(t, os.WriteFile(file, []byte("no certificate"), 0o600))
	for text, want := range map[string]string{
		"http://gate.example.com":         "is no URL that begins with https://",
		"gate.example.com":                "is no URL that begins with https://",
		"ftp://localhost":                 "is no URL that begins with https://",
		"https://":                        "is no URL that begins with https://",
		"https://u:secret@example.com":    "a URL with a user or password is not accepted",
		"https://u:secret@example.com:%x": "it is no URL",
	} {
		_, err := NewUpgradeGate(text, "", nil, clocktesting.NewFakeClock(time.Now()))
		must.Fail(t, "gate "+text, err, "--upgrade-gate-url", want)
		must.Lack(t, "error", err.Error(), "secret")
	}
	none := must.Value(Options{}.upgradeGate(nil))(t)
	must.Equal(t, "held without a gate", none.Ask(t.Context(), asked), nil)
	_, err := Options{UpgradeGateCA: file}.upgradeGate(nil)
	must.Fail(t, "a CA bundle without a gate", err, "--upgrade-gate-ca: it is for --upgrade-gate-url, which is missing")
	for ca, want := range map[string]string{file: "has no certificate in PEM", file + "x": "no such file"} {
		_, err := NewUpgradeGate("https://example.com", ca, nil, clocktesting.NewFakeClock(time.Now()))
		must.Fail(t, "CA bundle "+ca, err, "--upgrade-gate-ca", want)
	}
}
