package devcluster

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/fairlead/test/must"
)

// usable checks that a kubeconfig handed out at some time opens the cluster now.
func usable(t *testing.T, kubeconfig string) {
	t.Helper()
	config := must.Value(clientcmd.RESTConfigFromKubeConfig([]byte(kubeconfig)))(t)
	client := must.Value(kubernetes.NewForConfig(config))(t)
	if _, err := client.CoreV1().Secrets("kube-system").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("the kubeconfig does not open the cluster: %v", err)
	}
}

func TestServerReportsTheRelease(t *testing.T) {
	root := must.Value(moduleRoot())(t)
	version := must.Value(fixtureClient(t).Discovery().ServerVersion())(t)
	if want := "\tk8s.io/kubernetes " + version.GitVersion + "\n"; !strings.Contains(read(t, root+"/go.mod"), want) {
		t.Errorf("the server says %s, which is not in go.mod", version.GitVersion)
	}
	if got := "v" + version.Major + "." + version.Minor; !strings.HasPrefix(version.GitVersion, got+".") {
		t.Errorf("major and minor say %s of %s", got, version.GitVersion)
	}
}

func TestKubeconfigHasNoShortcuts(t *testing.T) {
	config := must.Value(clientcmd.LoadFromFile(Kubeconfig()))(t)
	for name, cluster := range config.Clusters {
		if cluster.InsecureSkipTLSVerify || len(cluster.CertificateAuthorityData) == 0 || !strings.HasPrefix(cluster.Server, "https://127.0.0.1:") {
			t.Errorf("cluster %s is not reached by verified TLS on loopback: %s", name, cluster.Server)
		}
	}
	for name, user := range config.AuthInfos {
		if user.Token != "" || user.TokenFile != "" || user.Password != "" || len(user.ClientCertificateData) == 0 {
			t.Errorf("user %s has something other than a client certificate", name)
		}
	}
}

func TestOnlyKnownClientsAreServed(t *testing.T) {
	hostProgram(t) // skips with another cluster, where other rules hold
	config := Config()
	stranger := must.Value(Open(t.TempDir()))(t)
	forged := must.Value(stranger.Client("fairlead-admin", "system:masters"))(t)
	forgedPair := must.Value(tls.X509KeyPair(forged.Cert, forged.Key))(t)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(config.CAData)
	tests := map[string]*tls.Config{
		"nobody":                        {RootCAs: roots},
		"a client of another authority": {RootCAs: roots, Certificates: []tls.Certificate{forgedPair}},
	}
	for name, tlsConfig := range tests {
		t.Run(name, func(t *testing.T) {
			client := http.Client{Transport: &http.Transport{TLSClientConfig: tlsConfig}}
			defer client.CloseIdleConnections()
			for _, path := range []string{"/api", "/version", "/healthz", "/api/v1/namespaces/default/pods"} {
				response, err := client.Get(config.Host + path)
				if err != nil {
					continue // refused in the handshake
				}
				response.Body.Close()
				if response.StatusCode != http.StatusUnauthorized {
					t.Errorf("%s answers %s", path, response.Status)
				}
			}
		})
	}
	t.Run("another server is not believed", func(t *testing.T) {
		other := rest.CopyConfig(config)
		other.CAData = stranger.CA()
		client := must.Value(kubernetes.NewForConfig(other))(t)
		if _, err := client.Discovery().ServerVersion(); err == nil || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("got %v, want a refused certificate", err)
		}
	})
}

func TestAccessIsByRole(t *testing.T) {
	namespace := Namespace(t)
	config := Config()
	config.Impersonate.UserName = "system:serviceaccount:" + namespace + ":default"
	client := must.Value(kubernetes.NewForConfig(config))(t)
	if _, err := client.CoreV1().Secrets(namespace).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a service account without roles may list secrets: %v", err)
	}
}
