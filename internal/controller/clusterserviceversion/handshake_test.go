package clusterserviceversion

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"fairlead.dev/fairlead/internal/rollout/serving"
	"fairlead.dev/fairlead/test/must"
)

// pod is a server in the place of the pods of an operator, which shows what it is told to.
type pod struct {
	mu     sync.Mutex
	show   *tls.Certificate
	err    error  // that connections meet
	says   string // instead of a handshake
	dialed []string
	serve  sync.WaitGroup
}

func (p *pod) dial(_ context.Context, _, address string) (net.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dialed = append(p.dialed, address)
	if p.err != nil {
		return nil, p.err
	}
	near, far := net.Pipe()
	show, says := p.show, p.says
	p.serve.Go(func() {
		defer far.Close()
		if says != "" {
			p.serve.Go(func() { _, _ = io.Copy(io.Discard, far) }) // what the client sends
			_, _ = far.Write([]byte(says))
			return
		}
		_ = tls.Server(far, &tls.Config{Certificates: []tls.Certificate{*show}}).Handshake()
	})
	return near, nil
}

// shows makes the pod show a certificate.
func (p *pod) shows(t *testing.T, s serving.Certificate) {
	t.Helper()
	pair := must.Value(tls.X509KeyPair(s.Certificate, s.Key))(t)
	p.show, p.err, p.says = &pair, nil, ""
}

// rolledOut is a cluster with an operator whose pods are ready and whose conversion is to be switched on.
func rolledOut(t *testing.T) (*cluster, *pod) {
	t.Helper()
	k, p := newCluster(t, newGroup(""), newCRD("things.example.com", "v1")), &pod{}
	t.Cleanup(p.serve.Wait)
	k.c.dial = p.dial
	csv := newCSV("op.v1", withWebhooks)
	k.create(csv)
	k.create(permissions(t, csv)...)
	_ = k.pass("op.v1")
	k.rollOut()
	k.c.writtenAt.Clear()
	return k, p
}

// holds makes sure that the CRD is not converted, and that the CSV reports why.
func (k *cluster) holds(words string) {
	k.t.Helper()
	k.c.writtenAt.Clear()
	_, err := k.reconcile("op.v1")
	csv := k.csv("op.v1")
	if err == nil || csv.Status.Phase != toInstalling || !strings.Contains(csv.Status.Message, words) || !strings.Contains(csv.Status.Message, "the CRD is converted as before") {
		k.t.Errorf("%v; %s: %s; want it to wait and say %q", err, csv.Status.Phase, csv.Status.Message, words)
	}
	if c := k.conversion("things.example.com"); c != nil && c.Strategy == apiextensionsv1.WebhookConverter {
		k.t.Errorf("switched on already: %+v", c)
	}
}

func (k *cluster) switchedOn() {
	k.t.Helper()
	expect(k.t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	if c := k.conversion("things.example.com"); c == nil || c.Strategy != apiextensionsv1.WebhookConverter {
		k.t.Errorf("conversion %+v", c)
	}
}

// TestConversionWaitsForATrustedCertificate, for however long another one is shown.
func TestConversionWaitsForATrustedCertificate(t *testing.T) {
	k, p := rolledOut(t)
	other := must.Value(serving.Issue(serving.Request{Hosts: []string{"manager-service.operators.svc"}, Now: k.clock.Now()}))(t)
	p.shows(t, other)
	for range unreachableTries + 1 {
		k.holds("the pod at 192.0.2.2:9443, to which Service operators/manager-service leads, shows no certificate that the API server would trust: tls: failed to verify certificate: " +
			"x509: certificate signed by unknown authority")
		k.clock.SetTime(k.clock.Now().Add(unreachableTime))
	}
	must.Contain(t, "message", k.csv("op.v1").Status.Message, "it has to serve with that of Secret operators/manager-service-cert")
	p.says = "HTTP/1.1 400 Bad Request\r\n\r\n"
	k.holds("shows no certificate that the API server would trust: tls: first record does not look like a TLS handshake")
	serving, _ := k.servingCertificate()
	p.shows(t, serving)
	k.switchedOn()
	must.Equal(t, "a pod that is not ready was asked", slices.Contains(p.dialed, "192.0.2.1:9443"), false)
	p.dialed = nil
	k.pass("op.v1")
	must.Empty(t, "asked again once it is switched on", p.dialed)
}

// TestConversionOfServersOutOfReach: what the manager cannot reach it does not wait for without end.
func TestConversionOfServersOutOfReach(t *testing.T) {
	k, p := rolledOut(t)
	p.err = errors.New("dial tcp 192.0.2.2:9443: connect: no route to host")
	const words = "the manager cannot reach Service operators/manager-service to look whether it shows a certificate that the API server would trust: dial tcp 192.0.2.2:9443: connect: no route to host"
	for range 2 * unreachableTries { // many at once are no reason to give up
		k.holds(words)
	}
	k.clock.SetTime(k.clock.Now().Add(unreachableTime - time.Second))
	k.holds(words)
	k.clock.SetTime(k.clock.Now().Add(time.Second))
	k.switchedOn()
	if told := k.told(); !slices.ContainsFunc(told, func(e string) bool {
		return strings.Contains(e, "convert CRD things.example.com by webhook, although it is not known whether the API server trusts the certificate of Service operators/manager-service")
	}) {
		t.Errorf("no Event tells of it: %q", told)
	}
	k.delete(k.csv("op.v1"))
	_, _ = k.reconcile("op.v1")
	_, _ = k.reconcile("op.v1")
	k.c.unreached.Range(func(name, _ any) bool { t.Errorf("%v is not forgotten", name); return true })
}

// TestServersThatDoNotAnswer cost a pass no more than the time that they are given, and leave nothing behind.
func TestServersThatDoNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := func(ctx context.Context, _, address string) (net.Conn, error) {
			if address == "a" {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			near, far := net.Pipe() // takes what it is sent, and says nothing
			go func() {
				defer far.Close()
				for b := make([]byte, 4096); ; {
					if _, err := far.Read(b); err != nil {
						return
					}
				}
			}()
			return near, nil
		}
		before := time.Now()
		failures := handshakes(t.Context(), silent, []string{"a", "b", "c"}, &tls.Config{ServerName: "x"})
		if took := time.Since(before); took != handshakeTime || slices.Contains(failures, nil) || slices.ContainsFunc(failures, isDistrusted) {
			t.Errorf("%v after %s", failures, took)
		}
	})
}
