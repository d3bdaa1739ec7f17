package manager

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/schedule"
)

// Names of the flags of the upgrade gate, which errors repeat.
const (
	UpgradeGateFlag   = "upgrade-gate-url"
	UpgradeGateCAFlag = "upgrade-gate-ca"
)

// upgradeGate is the gate that the options name; nil, which allows everything, where they name none.
func (o Options) upgradeGate(c clock.PassiveClock) (*UpgradeGate, error) {
	switch {
	case o.UpgradeGate == "" && o.UpgradeGateCA != "":
		return nil, fmt.Errorf("read --%s: it is for --%s, which is missing: give both or neither", UpgradeGateCAFlag, UpgradeGateFlag)
	case o.UpgradeGate == "":
		return nil, nil
	}
	return NewUpgradeGate(o.UpgradeGate, o.UpgradeGateCA, o.TLS.Client(), c)
}

// What asking the upgrade gate may cost.
const (
	gateTimeout  = 3 * time.Second
	gateInterval = time.Minute // until an answer is asked for again
	gateBody     = 4 << 10     // bytes of an answer that are read
	gateText     = 300         // bytes of an answer that a status repeats
	gateAnswers  = 4096        // answers that are remembered
)

// UpgradeGate is an HTTP server, such as one of a fleet, that is asked whether an upgrade may begin. Only a flag of the manager names it: what an
// object says never leads to a request. It is asked once an interval about an upgrade, and not at all for that long after it gave no answer.
type UpgradeGate struct {
	url    *url.URL
	client *http.Client
	clock  clock.PassiveClock

	mu      sync.Mutex
	answers map[string]gateAnswer
	down    gateAnswer
}

// gateAnswer is an answer until it is asked for again; empty allows the upgrade.
type gateAnswer struct {
	refusal string
	until   time.Time
}

// NewUpgradeGate returns the gate at a URL: over HTTPS, or HTTP on loopback. ca is a PEM file with its CA bundle; empty is that of the system. The
// base has the settings of TLS; nil is those of Go.
func NewUpgradeGate(text, ca string, base *tls.Config, c clock.PassiveClock) (*UpgradeGate, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read --%s: it is no URL", UpgradeGateFlag) // whose text may hold a password
	}
	ip := net.ParseIP(u.Hostname())
	loopback := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	switch {
	case u.User != nil:
		return nil, fmt.Errorf("read --%s: a URL with a user or password is not accepted, because logs would show it: remove it", UpgradeGateFlag)
	case u.Hostname() == "" || u.Scheme != "https" && (u.Scheme != "http" || !loopback):
		return nil, fmt.Errorf("read --%s: %s is no URL that begins with https:// and a host; http:// is accepted on loopback", UpgradeGateFlag, u.Redacted())
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if base != nil {
		config = base.Clone()
	}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("read --%s: %w", UpgradeGateCAFlag, err)
		}
		if config.RootCAs = x509.NewCertPool(); !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read --%s: file %s has no certificate in PEM", UpgradeGateCAFlag, ca)
		}
	}
	client := &http.Client{Timeout: gateTimeout, Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, IdleConnTimeout: gateInterval, MaxResponseHeaderBytes: gateBody},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // another place is no answer
	return &UpgradeGate{url: u, client: client, clock: c, answers: map[string]gateAnswer{}}, nil
}

// Ask returns why upgrades have to wait, and until when; nil where the gate allows each that no person lets through.
func (g *UpgradeGate) Ask(ctx context.Context, upgrades ...schedule.Upgrade) *schedule.Held {
	if g == nil {
		return nil
	}
	for _, u := range upgrades {
		if u.Passed() {
			continue
		}
		if answer := g.answer(ctx, u); answer.refusal != "" {
			return schedule.By(answer.refusal, answer.until, u)
		}
	}
	return nil
}

// answer is the one that is remembered, or else a new one.
func (g *UpgradeGate) answer(ctx context.Context, u schedule.Upgrade) gateAnswer {
	question := g.question(u)
	now := g.clock.Now()
	g.mu.Lock()
	known, ok := g.answers[question]
	down := g.down
	g.mu.Unlock()
	switch {
	case ok && now.Before(known.until):
		return known
	case now.Before(down.until):
		return down
	}
	refusal, answered := g.get(ctx, question)
	next := gateAnswer{refusal, g.clock.Now().Add(gateInterval)}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !answered {
		g.down = next
		return next
	}
	if len(g.answers) >= gateAnswers {
		g.answers = map[string]gateAnswer{}
	}
	g.answers[question] = next
	return next
}

// question is the URL that asks about an upgrade. What the flag says in the query stays.
func (g *UpgradeGate) question(u schedule.Upgrade) string {
	kind, name, _ := strings.Cut(u.Object, " ")
	query := g.url.Query()
	for key, value := range map[string]string{"kind": kind, "namespace": u.Namespace, "name": name, "bundle": u.Bundle, "version": u.Version} {
		query.Set(key, value)
	}
	asked := *g.url
	asked.RawQuery = query.Encode()
	return asked.String()
}

// get asks, and returns why the upgrade waits; empty where it may begin. It is false where there was no answer.
func (g *UpgradeGate) get(ctx context.Context, question string) (refusal string, answered bool) {
	server := (&url.URL{Scheme: g.url.Scheme, Host: g.url.Host, Path: g.url.Path}).String()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, question, nil)
	if err != nil {
		return "the question to " + server + " cannot be asked: " + messages.Error(err), false
	}
	response, err := g.client.Do(request)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err // without the query
		}
		return server + " gave no answer, and is asked again within a minute: " + messages.Error(err), false
	}
	defer func() { _ = response.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(response.Body, gateBody)) // what arrived of it is enough for a message
	text := messages.Answer(strings.TrimSpace(string(body)), gateText)
	switch response.StatusCode {
	case http.StatusOK:
		return "", true
	case http.StatusConflict, http.StatusForbidden:
		if text == "" {
			text = "no reason is given"
		}
		return fmt.Sprintf("%s answers %s: %s", server, response.Status, text), true
	}
	return fmt.Sprintf("%s answers %s, which is neither 200, 403 nor 409: %s", server, response.Status, text), true
}
