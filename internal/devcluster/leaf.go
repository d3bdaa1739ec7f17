package devcluster

import (
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"k8s.io/client-go/util/keyutil"
)

const leafLife = 365 * 24 * time.Hour

// Pair is a certificate and its key in PEM.
type Pair struct{ Cert, Key []byte }

// Client makes a client certificate of the cluster's authority for a user and its groups.
func (d *Directory) Client(user string, groups ...string) (Pair, error) {
	return d.ca.issue(pkix.Name{CommonName: user, Organization: groups}, x509.ExtKeyUsageClientAuth, nil)
}

// server makes a serving certificate; each host is an IP address or a DNS name.
func (d *Directory) server(name string, hosts ...string) (Pair, error) {
	return d.ca.issue(pkix.Name{CommonName: name}, x509.ExtKeyUsageServerAuth, hosts)
}

// WriteServer makes the serving certificate of the API server; each host is an IP address or a DNS name.
func (d *Directory) WriteServer(hosts ...string) error {
	pair, err := d.server("kube-apiserver", hosts...)
	if err != nil {
		return err
	}
	return pair.write(d.Path(ServerCert), d.Path(ServerKey))
}

// WriteFrontProxyClient makes the certificate that the API server shows to aggregated API servers.
func (d *Directory) WriteFrontProxyClient() error {
	pair, err := d.frontProxy.issue(pkix.Name{CommonName: FrontProxyClientName}, x509.ExtKeyUsageClientAuth, nil)
	if err != nil {
		return err
	}
	return pair.write(d.Path(FrontProxyClientCert), d.Path(FrontProxyClientKey))
}

func (a *authority) issue(subject pkix.Name, usage x509.ExtKeyUsage, hosts []string) (Pair, error) {
	template, key, err := newTemplate(subject, leafLife)
	if err != nil {
		return Pair{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{usage}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return Pair{}, fmt.Errorf("sign the certificate of %s: %w", subject.CommonName, err)
	}
	encoded, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return Pair{}, fmt.Errorf("encode a key: %w", err)
	}
	return Pair{Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), Key: encoded}, nil
}

func (p Pair) write(certPath, keyPath string) error {
	return errors.Join(os.WriteFile(certPath, p.Cert, 0o600), os.WriteFile(keyPath, p.Key, 0o600))
}
