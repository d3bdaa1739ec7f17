package devcluster

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// writeClient makes a client certificate and writes a kubeconfig with it, readable by the owner only.
func (c *Cluster) writeClient(path, user string, groups ...string) (Pair, error) {
	pair, err := c.certs.Client(user, groups...)
	if err != nil {
		return pair, err
	}
	name := "fairlead-" + c.opts.Name
	config := api.Config{
		Clusters:       map[string]*api.Cluster{name: {Server: c.apiURL(), CertificateAuthorityData: c.certs.CA()}},
		AuthInfos:      map[string]*api.AuthInfo{name: {ClientCertificateData: pair.Cert, ClientKeyData: pair.Key}},
		Contexts:       map[string]*api.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}
	if err := clientcmd.WriteToFile(config, path); err != nil {
		return pair, fmt.Errorf("write the kubeconfig of %s: %w", user, err)
	}
	return pair, nil
}
