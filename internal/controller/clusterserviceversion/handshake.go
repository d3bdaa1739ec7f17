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

// once is what is asked once a pass.
type once struct {
	endpoints map[types.NamespacedName][]discoveryv1.EndpointSlice // of Services
	asked     map[string]*asked                                    // by Service and port
}

// asked is what the servers behind a port of a Service answered.
type asked struct {
	addresses []string
	failures  []error // nil is a certificate that is trusted
	givenUp   bool    // they were asked in vain for long enough
}

// answers makes sure that a server is ready before the API server sends requests to it: objects whose webhook does not answer can be neither
// read nor written. Deployments are available a little before the Service in front of them has endpoints. What is the request for that, and
// until is what happens meanwhile, for the message.
func (o servers) answers(ctx context.Context, service types.NamespacedName, what, until string) error {
	endpoints, err := o.endpoints(ctx, service)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if !slices.ContainsFunc(endpoints, func(s discoveryv1.EndpointSlice) bool { return slices.ContainsFunc(s.Endpoints, isReady) }) {
		return fmt.Errorf("%s: Service %s has no endpoint that is ready; until it has one, %s", what, service, until)
	}
	return nil
}

// endpoints are those of a Service. They are read once for each change of where requests lead, which is not worth a cache of all endpoints of the cluster.
func (o servers) endpoints(ctx context.Context, service types.NamespacedName) ([]discoveryv1.EndpointSlice, error) {
	if known, ok := o.once.endpoints[service]; ok {
		return known, nil
	}
	var all discoveryv1.EndpointSliceList
	what := fmt.Sprintf("the endpoints of Service %s", service)
	if err := list(ctx, o.live, &all, what, client.InNamespace(service.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: service.Name}); err != nil {
		return nil, err
	}
	o.once.endpoints[service] = all.Items
	return all.Items, nil
}

// servesTrusted makes sure that the servers of a conversion webhook serve a certificate that the API server will trust. That a pod is ready
// does not prove it: it may serve a certificate of its own, or the one before. The warning is about servers that cannot be asked.
func (o servers) servesTrusted(ctx context.Context, service *apiextensionsv1.ServiceReference, authorities []byte, what, until string) (warning string, _ error) {
	if o.dial == nil {
		return "", nil
	}
	name := key(service.Namespace, service.Name)
	answer, err := o.ask(ctx, service, authorities)
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	for i, err := range answer.failures {
		if isDistrusted(err) {
			return "", fmt.Errorf("%s: the pod at %s, to which Service %s leads, shows no certificate that the API server would trust: %s; it has to serve with that of Secret %s, "+
				"which is mounted into its containers; until it does, %s", what, answer.addresses[i], name, messages.Error(err), certificateOf(o.csv, name.Name), until)
		}
	}
	if slices.Contains(answer.failures, nil) {
		return "", nil
	}
	cause := "its endpoints have no address for this port"
	if len(answer.failures) > 0 {
		cause = messages.Error(errors.Join(answer.failures...))
	}
	if !answer.givenUp {
		return "", fmt.Errorf("%s: the manager cannot reach Service %s to look whether it shows a certificate that the API server would trust: %s; until it does, "+
			"or %s of asking in vain are over, %s", what, name, cause, unreachableTime, until)
	}
	return fmt.Sprintf("%s, although it is not known whether the API server trusts the certificate of Service %s: its endpoints are ready, and the manager cannot reach them: %s", what, name, cause), nil
}

// ask asks the servers behind a port of a Service, once a pass.
func (o servers) ask(ctx context.Context, service *apiextensionsv1.ServiceReference, authorities []byte) (*asked, error) {
	name, port := key(service.Namespace, service.Name), int32(443)
	if service.Port != nil {
		port = *service.Port
	}
	at := fmt.Sprintf("%s:%d", name, port)
	if known := o.once.asked[at]; known != nil {
		return known, nil
	}
	endpoints, err := o.endpoints(ctx, name)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authorities)
	config := &tls.Config{RootCAs: roots, ServerName: name.Name + "." + name.Namespace + ".svc", Time: o.clock.Now, MinVersion: tls.VersionTLS12}
	answer := &asked{addresses: addressesOf(endpoints, port)}
	answer.failures = handshakes(ctx, o.dial, answer.addresses, config)
	csv := client.ObjectKeyFromObject(o.csv)
	if slices.Contains(answer.failures, nil) || slices.ContainsFunc(answer.failures, isDistrusted) {
		o.unreached.Delete(csv)
	} else {
		// Report whether the servers of an operator were asked in vain for long enough. A pass counts, and what is long ago does not.
		now := o.clock.Now()
		so := unreached{since: now}
		if before, ok := o.unreached.Load(csv); ok && now.Sub(before.(unreached).last) < unreachableKept {
			so = before.(unreached)
		}
		so.last, so.tries = now, so.tries+1
		o.unreached.Store(csv, so)
		answer.givenUp = so.tries >= unreachableTries && now.Sub(so.since) >= unreachableTime
	}
	o.once.asked[at] = answer
	return answer, nil
}

// certificateOf names the Secret with the certificate for a Service.
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

// isDistrusted reports whether a server answered with something else than a certificate that is trusted.
func isDistrusted(err error) bool {
	var certificate *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	return errors.As(err, &certificate) || errors.As(err, &noTLS)
}
