package metrics

import (
	"crypto/tls"
	"errors"
	"fmt"

	"fairlead.dev/fairlead/internal/platform"

	"github.com/go-logr/logr"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// Files name what is shown to clients, and who vouches for theirs, all in PEM. They may change at any time.
type Files struct {
	// Certificate and Key go together. ClientCA holds the CA bundle for clients' certificates.
	Certificate, Key, ClientCA string
}

// Check returns an error when one file is given without what it needs. It reads nothing.
func (f Files) Check(plain bool) error {
	switch {
	case plain && f != Files{}:
		return errors.New("serve metrics: --metrics-plain is given with --tls-cert, --tls-key or --client-ca, which are for HTTPS; leave out either")
	case f.Certificate == "" && f.Key != "":
		return errors.New("serve metrics over TLS: --tls-key is given without --tls-cert; give both, or none")
	case f.Certificate != "" && f.Key == "":
		return errors.New("serve metrics over TLS: --tls-cert is given without --tls-key; give both, or none")
	}
	return nil
}

// identity is what the files hold.
type identity struct {
	pair    Certificate
	clients *dynamiccertificates.DynamicFileCAContent // nil when no certificates are asked of clients
	serving *dynamiccertificates.DynamicServingCertificateController
	profile *platform.Source
}

// Certificate is a serving certificate that may be exchanged at any time, such as a *rotation.Certificate.
type Certificate interface {
	dynamiccertificates.CertKeyContentProvider
	dynamiccertificates.Notifier
}

// load reads the files for the first time. Where they hold no serving certificate, own is served.
func (f Files) load(own Certificate, profile *platform.Source) (*identity, error) {
	i := identity{pair: own, profile: profile}
	var err error
	if f.Certificate != "" {
		if i.pair, err = dynamiccertificates.NewDynamicServingContentFromFiles("metrics", f.Certificate, f.Key); err != nil {
			return nil, fmt.Errorf("serve metrics over TLS: use the certificate in %s and the key in %s: %w; see --tls-cert and --tls-key", f.Certificate, f.Key, err)
		}
	}
	base := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		SessionTicketsDisabled: true} // who comes back shows a certificate again, so that an authority that has gone is not believed
	var clients dynamiccertificates.CAContentProvider
	if f.ClientCA != "" {
		if i.clients, err = dynamiccertificates.NewDynamicCAContentFromFile("metrics-clients", f.ClientCA); err != nil {
			return nil, fmt.Errorf("serve metrics over TLS: use the CA certificates in %s: %w; see --client-ca", f.ClientCA, err)
		}
		// Without CA certificates those of the system would be believed, so nothing is asked for then.
		base.ClientAuth, clients = tls.VerifyClientCertIfGiven, i.clients
	}
	i.serving = dynamiccertificates.NewDynamicServingCertificateController(base, clients, i.pair, nil, nil)
	i.pair.AddListener(i.serving)
	if i.clients != nil {
		i.clients.AddListener(i.serving)
	}
	if err := i.serving.RunOnce(); err != nil {
		return nil, fmt.Errorf("serve metrics over TLS: use %s, %s and %s: %w", f.Certificate, f.Key, f.ClientCA, err)
	}
	return &i, nil
}

// lines keep what clients do wrong, as scanners of ports do all the time, out of the log unless it is asked for.
type lines struct{ log logr.Logger }

// Write logs a line.
func (l lines) Write(line []byte) (int, error) {
	l.log.Info("serve metrics", "client", string(line))
	return len(line), nil
}
