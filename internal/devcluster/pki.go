package devcluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"k8s.io/client-go/util/keyutil"
)

// File names inside the directory given to Open.
const (
	CACert               = "ca.crt"
	CAKey                = "ca.key"
	FrontProxyCACert     = "front-proxy-ca.crt"
	frontProxyCAKey      = "front-proxy-ca.key"
	FrontProxyClientCert = "front-proxy-client.crt"
	FrontProxyClientKey  = "front-proxy-client.key"
	ServerCert           = "kube-apiserver.crt"
	ServerKey            = "kube-apiserver.key"
	// ServiceAccountKey signs service account tokens and, being a key pair, verifies them too.
	ServiceAccountKey = "service-account.key"
)

// FrontProxyClientName is the name under which the API server calls aggregated API servers.
const FrontProxyClientName = "front-proxy-client"

// Directory is the opened set of CAs of one cluster.
type Directory struct {
	path       string
	ca         *authority
	frontProxy *authority
}

// Open reads the CAs kept in dir, and makes those that are missing. The directory is created when it is not there.
func Open(dir string) (*Directory, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the certificate directory: %w", err)
	}
	d := &Directory{path: dir}
	var err error
	if d.ca, err = openAuthority(d.Path(CACert), d.Path(CAKey), "fairlead-devcluster-ca"); err != nil {
		return nil, err
	}
	if d.frontProxy, err = openAuthority(d.Path(FrontProxyCACert), d.Path(frontProxyCAKey), "fairlead-devcluster-front-proxy-ca"); err != nil {
		return nil, err
	}
	if _, err := os.Stat(d.Path(ServiceAccountKey)); errors.Is(err, fs.ErrNotExist) {
		key, err := keyutil.MakeEllipticPrivateKeyPEM()
		if err != nil {
			return nil, fmt.Errorf("generate a key: %w", err)
		}
		return d, os.WriteFile(d.Path(ServiceAccountKey), key, 0o600)
	}
	return d, nil
}

// Path is the path of one of the files named above.
func (d *Directory) Path(name string) string { return filepath.Join(d.path, name) }

// CA is the cluster's certificate authority in PEM, for kubeconfigs.
func (d *Directory) CA() []byte { return d.ca.pem }
