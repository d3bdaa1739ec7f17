package clusterserviceversion

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/messages"
)

// Dial opens a connection from the manager to a pod of an operator.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

const (
	// handshakeTime is how long servers may take that are asked for their certificate, maxHandshakes of them at the same time.
	handshakeTime = 3 * time.Second
	maxHandshakes = 3
	// A server that cannot be reached is asked for unreachableTime, unreachableTries times at least. Then it is left to its readiness whether
	// it answers: a NetworkPolicy may let the API server through to it, and not the manager. What was tried longer ago than unreachableKept
	// counts no more.
	unreachableTime  = 15 * time.Second
	unreachableTries = 3
	unreachableKept  = 5 * time.Minute
)

// unreached is how often the servers of an operator were asked in vain, one pass after the other.
type unreached struct {
	since, last time.Time
	tries       int
}

// asked is what the servers behind a port of a Service answered.
type asked struct {
	addresses []string
	failures  []error // nil is a certificate that is trusted
	givenUp   bool    // they were asked in vain for long enough
}

// showsTrusted makes sure that the servers of a conversion webhook show a certificate that the API server will believe. That a pod is ready
// does not say so: it may show a certificate of its own, or the one before.
func (f *facts) showsTrusted(ctx context.Context, service *apiextensionsv1.ServiceReference, authorities []byte, what, until string) error {
	if f.c.dial == nil {
		return nil
	}
	name := key(service.Namespace, service.Name)
	answer := f.ask(ctx, service, authorities)
	for i, err := range answer.failures {
		if isDistrusted(err) {
			return fmt.Errorf("%s: the pod at %s, to which Service %s leads, shows no certificate that the API server would trust: %s; it has to serve with that of Secret %s, "+
				"which is mounted into its containers; until it does, %s", what, answer.addresses[i], name, messages.Error(err), certificateOf(f.csv, name.Name), until)
		}
	}
	if slices.Contains(answer.failures, nil) {
		return nil
	}
	cause := "its endpoints have no address for this port"
	if len(answer.failures) > 0 {
		cause = messages.Error(errors.Join(answer.failures...))
	}
	if !answer.givenUp {
		return fmt.Errorf("%s: the manager cannot reach Service %s to look whether it shows a certificate that the API server would trust: %s; until it does, "+
			"or %s of asking in vain are over, %s", what, name, cause, unreachableTime, until)
	}
	f.c.tell(f.csv, corev1.EventTypeWarning, v1alpha1.CSVReasonWaiting, fmt.Sprintf("%s, although it is not known whether the API server trusts the certificate of Service %s: "+
		"its endpoints are ready, and the manager cannot reach them: %s", what, name, cause))
	return nil
}

// ask asks the servers behind a port of a Service, once a pass.
func (f *facts) ask(ctx context.Context, service *apiextensionsv1.ServiceReference, authorities []byte) *asked {
	name, port := key(service.Namespace, service.Name), int32(443)
	if service.Port != nil {
		port = *service.Port
	}
	at := fmt.Sprintf("%s:%d", name, port)
	if known := f.asked[at]; known != nil {
		return known
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authorities)
	config := &tls.Config{RootCAs: roots, ServerName: name.Name + "." + name.Namespace + ".svc", Time: f.c.clock.Now, MinVersion: tls.VersionTLS12}
	answer := &asked{addresses: addressesOf(f.endpoints[name], port)}
	answer.failures = handshakes(ctx, f.c.dial, answer.addresses, config)
	if slices.Contains(answer.failures, nil) || slices.ContainsFunc(answer.failures, isDistrusted) {
		f.c.unreached.Delete(client.ObjectKeyFromObject(f.csv))
	} else {
		answer.givenUp = f.c.giveUp(client.ObjectKeyFromObject(f.csv))
	}
	if f.asked == nil {
		f.asked = map[string]*asked{}
	}
	f.asked[at] = answer
	return answer
}

// giveUp says whether the servers of an operator were asked in vain for long enough. A pass counts, and what is long ago does not.
func (c *Controller) giveUp(csv types.NamespacedName) bool {
	now := c.clock.Now()
	so := unreached{since: now}
	if before, ok := c.unreached.Load(csv); ok && now.Sub(before.(unreached).last) < unreachableKept {
		so = before.(unreached)
	}
	so.last, so.tries = now, so.tries+1
	c.unreached.Store(csv, so)
	return so.tries >= unreachableTries && now.Sub(so.since) >= unreachableTime
}

// certificateOf is the Secret with the certificate for a Service.
func certificateOf(csv *v1alpha1.ClusterServiceVersion, service string) string {
	for _, deployment := range bundle.ServingDeployments(csv) {
		if bundle.ServingServiceName(deployment) == service {
			return csv.Namespace + "/" + bundle.ServingSecretName(deployment)
		}
	}
	return "of the Service"
}

// addressesOf are where a port of a Service leads, a few of them. The ports of the Services that are made here are named by their numbers.
func addressesOf(list []discoveryv1.EndpointSlice, port int32) []string {
	var out []string
	for i := range list {
		at := slices.IndexFunc(list[i].Ports, func(p discoveryv1.EndpointPort) bool {
			return p.Port != nil && p.Name != nil && *p.Name == strconv.Itoa(int(port))
		})
		if at < 0 || list[i].AddressType == discoveryv1.AddressTypeFQDN {
			continue
		}
		for _, e := range list[i].Endpoints {
			if isReady(e) && len(e.Addresses) > 0 {
				out = append(out, net.JoinHostPort(e.Addresses[0], strconv.Itoa(int(*list[i].Ports[at].Port))))
			}
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), maxHandshakes)]
}

func isReady(e discoveryv1.Endpoint) bool { return e.Conditions.Ready == nil || *e.Conditions.Ready }

// handshakes asks servers for their certificates, all at the same time, and returns what is wrong with each.
func handshakes(ctx context.Context, dial Dial, addresses []string, config *tls.Config) []error {
	ctx, stop := context.WithTimeout(ctx, handshakeTime)
	defer stop()
	out := make([]error, len(addresses))
	var asking sync.WaitGroup
	for i, address := range addresses {
		asking.Go(func() { out[i] = handshake(ctx, dial, address, config.Clone()) })
	}
	asking.Wait()
	return out
}

// handshake asks a server for its certificate. What the server thinks of who asks does not matter.
func handshake(ctx context.Context, dial Dial, address string, config *tls.Config) error {
	conn, err := dial(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	trusted := false
	config.VerifyConnection = func(tls.ConnectionState) error {
		trusted = true
		return nil
	}
	err = tls.Client(conn, config).HandshakeContext(ctx)
	if trusted {
		return nil
	}
	return cmp.Or(err, errors.New("it shows no certificate"))
}

// isDistrusted says whether a server answered with something else than a certificate that is trusted.
func isDistrusted(err error) bool {
	var certificate *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	return errors.As(err, &certificate) || errors.As(err, &noTLS)
}
